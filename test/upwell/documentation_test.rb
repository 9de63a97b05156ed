# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../../docs/tools/page_list"
require_relative "../../docs/tools/svg_diagrams"
require_relative "../../docs/tools/settings_page"

# The pages in docs/: the generated ones are current, and links lead to a file and a heading.
class DocumentationTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  PAGES = Dir.glob(["*.md", "docs/**/*.md", "{bench,examples}/**/*.md"], base: ROOT).freeze
  ON_THIS_MACHINE = %i[user group public backend].freeze # their examples need an account, a directory or a kernel

  def test_the_page_of_settings_is_current
    assert_equal SettingsPage.text, File.read(SettingsPage::PATH), "run rake docs:settings"
  end

  def test_examples_of_settings_are_valid
    assert_equal Upwell::SETTINGS.map(&:name).sort, SettingsPage::EXAMPLES.keys.sort
    configuration = Upwell::Configuration.new({}, environment: {})
    SettingsPage::EXAMPLES.except(*ON_THIS_MACHINE).each { |name, value| configuration.set(name, value, "example") }
    assert_equal "threads:5", configuration.mode
  end

  def test_pictures_are_current
    refute_empty SVGDiagrams.all
    SVGDiagrams.all.each { |path, svg| assert_equal svg, File.read(path), "run rake docs:pictures" }
  end

  def test_the_list_for_language_models_is_current
    assert_equal PageList.llms, File.read(PageList::LLMS, encoding: "UTF-8"), "run rake docs:llms"
  end

  def test_all_pages_are_listed_with_a_description
    listed = PageList.groups.values.flat_map(&:values).flatten
    assert_equal Dir.glob("docs/{guide,reference}/*.md", base: ROOT), listed.map(&:path).grep(%r{\Adocs/(?:guide|reference)/}).sort
    assert_equal Dir.glob("docs/decisions/[0-9]*.md", base: ROOT), PageList.decisions.map(&:path)
    assert_empty listed.reject(&:text)
  end

  def test_notes_belong_to_settings
    assert_empty SettingsPage::NOTES.keys - Upwell::SETTINGS.map(&:name)
  end

  def test_links_lead_to_a_file_and_a_heading
    dead = PAGES.flat_map do |page|
      links(page).reject { |path, anchor| alive?(page, path, anchor) }.map { |link| "#{page}: #{link.compact.join("#")}" }
    end
    assert_empty dead
  end

  # Readers of the gem do not have the repository: a link of a packaged page leads to a packaged file or a directory of such files.
  def test_links_of_packaged_pages_lead_to_packaged_files
    files = Gem::Specification.load(File.join(ROOT, "upwell.gemspec")).files
    dead = files.grep(/\.md\z/).flat_map do |page|
      targets = links(page).map { |path, _| target(page, path) }
      targets.reject { |path| files.any? { |file| file == path || file.start_with?("#{path}/") } }.map { |path| "#{page}: #{path}" }
    end
    assert_empty dead
  end

  def test_pages_that_the_source_names_exist
    code = "{lib,exe,ext,core,test,bin,bench,examples}/**/*.{rb,c,h,rake,mjs,ru}"
    sources = Dir.glob([code, "Rakefile", "{CONTRIBUTING,SECURITY}.md"], base: ROOT)
    sources.delete("test/upwell/prose_check_test.rb") # its pages are made up
    dead = sources.flat_map do |source|
      pages = read(source).scan(%r{docs/(?:guide|reference|decisions)/[\w-]+\.md}).uniq - PAGES
      pages.map { |page| "#{source}: #{page}" }
    end
    assert_empty dead
  end

  private

  def read(page)
    File.read(File.join(ROOT, page), encoding: "UTF-8").scrub
  end

  # @return [String] without blocks of code
  def prose(page)
    read(page).gsub(/^( *)```.*?^\1```/m, "")
  end

  def links(page)
    prose(page).gsub(/`[^`\n]*`/, "").scan(/\]\(([^)\s#]*)(?:#([^)\s]*))?\)/).reject { |path, _| path.match?(/\A\w+:/) }
  end

  def alive?(page, path, anchor)
    return false unless File.exist?(File.join(ROOT, target(page, path)))

    anchor.nil? || headings(target(page, path)).include?(anchor)
  end

  # @return [String] the path of a link's file below ROOT
  def target(page, path)
    path.empty? ? page : File.expand_path(path, "/#{File.dirname(page)}").delete_prefix("/")
  end

  # Anchors as GitHub makes them.
  def headings(page)
    titles = prose(page).scan(/^\#{1,6} (.+)$/).flatten.map { |title| title.gsub(/\[([^\]]*)\]\([^)]*\)/, '\\1') }
    titles.map { |title| title.downcase.gsub(/[^\p{Word}\- ]/, "").tr(" ", "-") }
  end
end
