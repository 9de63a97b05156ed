# frozen_string_literal: true

require_relative "../test_helper"
require "json"
require "open3"
require "timeout"
require "tmpdir"

# The lint of Markdown, on pages in a directory of its own.
class ProseCheckTest < Minitest::Test
  PATIENCE = 60 # seconds
  ROOT = File.expand_path("../..", __dir__)
  CHECK = File.join(ROOT, "test/support/prose_check.mjs")
  PACKAGE = File.join(ROOT, "node_modules/sentence-splitter")
  RULES = { words_max: 6, phrases: { "whoever" => "name the client", "is told" => "logs" },
            sentence_starts: { "What" => "name the subject" } }.freeze

  def setup
    skip "node is not on the PATH" unless system("node", "--version", out: File::NULL, err: File::NULL)
    skip "npm packages are not installed" unless File.directory?(PACKAGE)
  end

  # @param pages [Hash{String => String}] contents by file name
  # @return [Array(String, String, Integer)] output, errors and exit status of the check
  def check(pages, not_rewritten: [])
    Dir.mktmpdir do |directory|
      FileUtils.mkdir_p(File.join(directory, "docs/guide"))
      File.write(File.join(directory, ".prose.json"), JSON.generate(RULES.merge(not_rewritten:)))
      pages.each { |name, content| File.write(File.join(directory, name), content) }
      output, errors, status = Timeout.timeout(PATIENCE) { Open3.capture3("node", CHECK, chdir: directory) }
      [output, errors, status.exitstatus]
    end
  end

  def test_findings_have_file_line_and_reason
    page = <<~PAGE
      # A page

      A short one costs 5 ms. A long
      `sentence of` eight words is one too many.

      - What is served
      - A message is
        told to `whoever x` or whoever asks.
    PAGE
    _output, errors, status = check({ "docs/guide/page.md" => page })
    assert_equal <<~ERRORS, errors
      docs/guide/page.md:3: a sentence of 9 words (6 at most): "A long `sentence of` eight words ..."
      docs/guide/page.md:6: a sentence begins with "What": name the subject
      docs/guide/page.md:7: a sentence of 9 words (6 at most): "A message is told to ..."
      docs/guide/page.md:7: "is told": logs
      docs/guide/page.md:8: "whoever": name the client
    ERRORS
    assert_equal 1, status
  end

  def test_code_tables_headings_and_links_are_no_sentences
    page = <<~PAGE
      # What a heading has to say to users of it

      Run `a command of many words, which whoever runs`. What is it?

      ```sh
      echo whoever runs this has one two three four words
      ```

      | a table | whose cells may be as long as they like, and longer |
      | --- | --- |

      - [The title of a page that has more words than six](https://example.com/whoever)
    PAGE
    output, errors, status = check({ "README.md" => page })
    assert_empty errors
    assert_equal 0, status
    assert_equal "prose, rewritten: 1 files, 2 sentences of 2.5 words on average, 0.0 % over 6\n", output.lines.first
  end

  def test_phrases_count_in_tables_and_headings
    _output, errors, status = check({ "README.md" => "# Whoever\n\n| a |\n| --- |\n| is told |\n" })
    assert_equal "README.md:1: \"whoever\": name the client\nREADME.md:5: \"is told\": logs\n", errors
    assert_equal 1, status
  end

  def test_pages_that_are_not_rewritten_count_in_the_figures_only
    pages = { "README.md" => "One two three four.", "docs/guide/old.md" => "One two three four five six seven eight." }
    output, errors, status = check(pages, not_rewritten: ["docs/guide/old.md"])
    assert_empty errors
    assert_equal 0, status
    assert_equal <<~FIGURES, output
      prose, rewritten: 1 files, 1 sentences of 4.0 words on average, 0.0 % over 6
      prose, all: 2 files, 2 sentences of 6.0 words on average, 50.0 % over 6
    FIGURES
  end

  def test_the_list_of_pages_names_files_that_exist
    _output, errors, status = check({}, not_rewritten: ["docs/guide/renamed.md"])
    assert_equal ".prose.json: docs/guide/renamed.md under not_rewritten does not exist\n", errors
    assert_equal 1, status
  end
end
