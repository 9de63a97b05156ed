# frozen_string_literal: true

# The README's table of examples and commands: what passed.
module ReadmeResultsTable
  PAGE = File.expand_path("../../../README.md", __dir__)
  HEAD = "| example |"

  @rows = {}

  # Calls the block, a test, and takes note of how it ended.
  def self.note(example, command)
    (@rows[example] ||= {})[command] = "failed"
    yield
    @rows[example][command] = "passed"
  end

  # Writes them over those that are there.
  def self.write
    lines = File.readlines(PAGE)
    first = lines.index { |line| line.start_with?(HEAD) }
    count = lines.drop(first).take_while { |line| line.start_with?("|") }.size
    lines[first, count] = table
    File.write(PAGE, lines.join)
  end

  def self.table
    commands = @rows.values.flat_map(&:keys).uniq.sort_by { |name| OpalProcess.commands.index(name) }
    rows = [["example", *commands.map { |name| "`#{name}`" }], Array.new(commands.size + 1, "---")]
    rows += @rows.sort.map { |example, cells| ["[`#{example}`](examples/#{example})", *cells.values_at(*commands)] }
    rows.map { |cells| "| #{cells.join(" | ")} |\n" }
  end
  private_class_method :table
end
