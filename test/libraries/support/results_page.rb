# frozen_string_literal: true

# The tables of docs/reference/libraries.md, one for each Ruby: what waits and what blocks on each backend. A run replaces its own.
module ResultsPage
  PAGE = File.expand_path("../../../docs/reference/libraries.md", __dir__)
  HEADING = "## Ruby #{RUBY_VERSION[/\A\d+\.\d+/]}\n".freeze
  BACKENDS = { "io_uring" => "io_uring", "epoll" => "epoll", "poll" => "poll", "select" => "without the extension" }.freeze

  @rows = {}

  # @param found [Array<Hash>] title, what, found
  def self.note(backend, found)
    found.each { |row| (@rows[row.values_at(:title, :what)] ||= {})[backend] = row[:found] }
  end

  def self.write
    before, rest = File.read(PAGE).split(HEADING, 2)
    after = rest.to_s[/^## .*/m]
    File.write(PAGE, [before, table, after].compact.map { |part| "#{part.strip}\n" }.join("\n"))
  end

  def self.table
    rows = @rows.map { |titles, cells| [*titles, *cells.values_at(*BACKENDS.keys)] }
    lines = [["library", "operation", *BACKENDS.values], ["---"] * (BACKENDS.size + 2), *rows]
    "#{HEADING}\n#{lines.map { |cells| "| #{cells.map { |cell| mark(cell) }.join(" | ")} |\n" }.join}"
  end
  private_class_method :table

  def self.mark(cell)
    cell == "blocks" ? "**blocks**" : cell.to_s
  end
  private_class_method :mark
end
