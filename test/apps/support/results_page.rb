# frozen_string_literal: true

# The tables of docs/reference/applications.md: what passed, for each Ruby, application and mode. A run replaces the rows that it knows of.
module ResultsPage
  PAGE = File.expand_path("../../../docs/reference/applications.md", __dir__)
  HEADING = "## Ruby #{RUBY_VERSION[/\A\d+\.\d+/]}\n".freeze
  MODES = %w[fibers threads:5 inline].freeze

  @rows = {}

  # Calls the block, a test, and takes note of how it ended.
  def self.note(app, gems, mode)
    ended = "failed"
    yield
    ended = "passed"
  ensure
    (@rows[gems.map { |gem| "#{gem} #{app.version_of(gem)}" }.join(", ")] ||= {})[mode] = ended
  end

  # Writes them; rows of other versions of the same gems go.
  def self.write
    before, own, after = parts(File.read(PAGE))
    names = @rows.keys.map { |row| row.gsub(/ [\d.]+/, "") }
    kept = own.reject { |row, _| names.include?(row.gsub(/ [\d.]+/, "")) }
    File.write(PAGE, before + table(kept.merge(@rows).sort) + after)
  end

  def self.parts(page)
    before, rest = page.split(HEADING, 2)
    return ["#{page.chomp}\n\n", {}, ""] unless rest

    own, heading, after = rest.partition(/^## /)
    [before, own.scan(/^\| (\w[^|]*\d[^|]*) \| (.*) \|$/).to_h { |row, cells| [row, MODES.zip(cells.split(" | ")).to_h] }, heading + after]
  end
  private_class_method :parts

  def self.table(rows)
    lines = ["application", *MODES].join(" | "), Array.new(MODES.size + 1, "---").join(" | ")
    lines += rows.map { |row, cells| [row, *cells.values_at(*MODES).map { |cell| cell || "" }].join(" | ") }
    "#{HEADING}\n#{lines.map { |line| "| #{line} |\n" }.join}\n"
  end
  private_class_method :table
end
