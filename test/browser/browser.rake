# frozen_string_literal: true

desc "Test the examples' pages with Chromium (CHROMIUM=chromium); screenshots are written to tmp/browser"
Rake::TestTask.new("test:browser" => :compile) do |test|
  test.libs = %w[lib test]
  test.pattern = "test/browser/*_test.rb"
  test.warning = false
end
