# frozen_string_literal: true

require "cgi"
require "fileutils"
require "json"
require_relative "page_list"

# Builds build/site with VitePress: `rake docs:site`. The site has the repository's folders. It contains README.md, docs/README.md and each
# file that a page links to: Markdown and pictures as they are, other files as code, folders as the code of their files.
class Site
  TOOLS = File.join(PageList::ROOT, "build/site_tools")
  SOURCE = File.join(TOOLS, "pages")
  OUTPUT = File.join(PageList::ROOT, "build/site")
  CODE = /^(?<indent> *)```.*?^\k<indent>```|`[^`\n]*`/m
  LINK = /#{CODE}|\]\((?<path>[^)\s#]+)(?<anchor>#[^)\s]*)?\)/
  LANGUAGES = { "" => "txt", ".ru" => "ruby", ".rake" => "ruby", ".h" => "c" }.freeze

  # Copies the pages, and all that they link to, to SOURCE.
  def write
    FileUtils.rm_rf(SOURCE)
    FileUtils.cp_r("#{__dir__}/site/.", TOOLS)
    @queue = ["README.md", "docs/README.md"]
    @queue.each { |path| put(place(path), content(path)) } # grows meanwhile
    navigation = { groups: PageList.groups.transform_values { |parts| parts.transform_values { |pages| entries(pages) } },
                   decisions: entries(PageList.decisions) }
    File.write("#{TOOLS}/pages.json", JSON.pretty_generate(navigation))
    put_llms
  end

  # @return [Array<String>] links of the built site, and of its llms.txt, that lead to no file or no anchor
  def dead_links
    pages = Dir.glob("**/*.html", base: OUTPUT).to_h { |path| [path, File.read(File.join(OUTPUT, path), encoding: "UTF-8")] }
    anchors = pages.transform_values { |html| html.scan(/\sid="([^"]*)"/).flatten }
    links = [*pages.transform_values { |html| html.scan(/\s(?:href|src)="([^"]*)"/).flatten.uniq }, ["llms.txt", llms_links]]
    links.flat_map { |page, hrefs| hrefs.reject { |href| alive?(page, CGI.unescapeHTML(href), anchors) }.map { |href| "#{page}: #{href}" } }
  end

  private

  def alive?(page, link, anchors)
    return true if link.match?(/\A\w+:/)

    path, _, anchor = link.partition("#")
    target = path.empty? ? page : File.expand_path(CGI.unescape(path), "/#{File.dirname(page)}").delete_prefix("/")
    target = File.join(target, "index.html").delete_prefix("/") if path.end_with?("/")
    return false unless File.file?(File.join(OUTPUT, target))

    anchor.empty? || anchors.fetch(target, []).include?(CGI.unescape(anchor))
  end

  def content(path)
    full = File.join(PageList::ROOT, path)
    return folder(path) if File.directory?(full)
    return File.binread(full) if path.end_with?(".svg")
    return rewrite(path, PageList.read(path)) if path.end_with?(".md")

    "# #{path}\n\n#{code(path)}"
  end

  # Where a file of the repository is in SOURCE.
  def place(path)
    return "#{path}/index.md" if File.directory?(File.join(PageList::ROOT, path))
    return path if path.end_with?(".svg")

    path.end_with?(".md") ? path.sub(/\bREADME\.md\z/, "index.md") : "#{path}.md"
  end

  def rewrite(page, markdown)
    markdown.gsub(LINK) do |text|
      link = Regexp.last_match
      next text if link[:path].nil? || link[:path].match?(/\A\w+:/)

      target = File.expand_path(link[:path], "/#{File.dirname(page)}").delete_prefix("/")
      @queue << target unless @queue.include?(target)
      "](/#{place(target)}#{link[:anchor]})"
    end
  end

  # Markdown files of a folder are links, other text is code.
  def folder(path)
    pages, files = tracked(path).reject { |file| file.end_with?(".svg", ".json") }.partition { |file| file.end_with?(".md") }
    list = pages.map { |page| "- [#{File.basename(page)}](#{page.delete_prefix("#{path}/")})" }.join("\n")
    sections = files.flat_map { |file| ["## #{file.delete_prefix("#{path}/")}", code(file)] }
    ["# #{path}", rewrite("#{path}/README.md", list), *sections].join("\n\n")
  end

  def tracked(path) = IO.popen(["git", "-C", PageList::ROOT, "ls-files", path], &:readlines).map(&:chomp)

  def code(path)
    type = File.extname(path)
    "``````#{LANGUAGES.fetch(type) { type.delete_prefix(".") }}\n#{PageList.read(path)}\n``````\n"
  end

  def put(path, content)
    FileUtils.mkdir_p(File.dirname(File.join(SOURCE, path)))
    File.binwrite(File.join(SOURCE, path), content)
  end

  # Its links lead to the Markdown itself.
  def put_llms
    put("public/llms.txt", PageList.llms)
    llms_links.each { |path| put("public/#{path}", PageList.read(path)) }
  end

  def llms_links = PageList.llms.scan(/\]\(([^)]*)\)/).flatten

  def entries(pages) = pages.map { |page| { text: page.title, link: "/#{place(page.path)}", description: page.text } }
end
