# frozen_string_literal: true

# The table of docs/guide/applications.md: what passed, for each application, mode and Ruby. A run replaces the cells that it knows of.
module Results
  PAGE = File.expand_path("../../../docs/guide/applications.md", __dir__)
  RUBY = RUBY_VERSION[/\A\d+\.\d+/]

  @cells = {}

  # Calls the block, a test, and takes note of how it ended.
  def self.note(app, gems, mode)
    row = (@cells[gems.map { |gem| "#{gem} #{app.version_of(gem)}" }.join(", ")] ||= {})
    row[mode] = "failed"
    yield
    row[mode] = "passed"
  end

  Minitest.after_run { puts @cells }
end
