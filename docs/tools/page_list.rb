# frozen_string_literal: true

# The list of pages, read from docs/README.md. It is the navigation of the site, and llms.txt: `rake docs:llms`.
module PageList
  ROOT = File.expand_path("../..", __dir__)
  LLMS = File.join(ROOT, "llms.txt")
  LINK = /^- \[(?<title>[^\]]+)\]\((?<link>[^)]+\.md)\)(?:: (?<text>.+))?$/
  Page = Struct.new(:title, :path, :text)

  module_function

  # @return [Hash{String => Hash{String, nil => Array<Page>}}] pages by group ("Guides") and part of it ("Run a server")
  def groups
    read("docs/README.md").split(/^## /).drop(1).to_h do |group|
      parts = group.split(/^\*\*(.+)\*\*$/)
      [group[/\A[^:\n]+/], [nil, *parts].each_slice(2).to_h { |name, lines| [name, links("docs", lines)] }.reject { |_, pages| pages.empty? }]
    end
  end

  # @return [Array<Page>]
  def decisions = links("docs/decisions", read("docs/decisions/README.md"))

  # @return [String] llms.txt, see llmstxt.org
  def llms
    summary = read("README.md")[/^Upwell is .+?\n\n/m].split.join(" ")
    lists = groups.transform_values { |parts| parts.values.flatten }.merge("Optional" => decisions)
    ["# Upwell\n", "> #{summary}\n", *lists.map { |name, pages| "## #{name}\n\n#{pages.map { |page| line(page) }.join}" }].join("\n")
  end

  def line(page) = "- [#{page.title}](#{page.path})#{": #{page.text}" if page.text}\n"

  def links(directory, lines)
    lines.scan(LINK).map { |title, link, text| Page.new(title, File.expand_path(link, "/#{directory}").delete_prefix("/"), text) }
  end

  def read(path) = File.read(File.join(ROOT, path), encoding: "UTF-8")
end
