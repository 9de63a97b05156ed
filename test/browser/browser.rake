# frozen_string_literal: true

Rake::TestTask.new("test:browser" => :compile) do |test|
  test.description = "Test the examples' pages with Chromium (CHROMIUM=chromium); screenshots are written to tmp/browser"
  test.libs = %w[lib test]
  test.pattern = "test/browser/*_test.rb"
  test.warning = false
end
