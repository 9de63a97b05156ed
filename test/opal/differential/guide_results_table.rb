# frozen_string_literal: true

require_relative "known_differences"
require_relative "request_lists"

module Differential
  # The guide's table of applications of released gems, as the run finds them.
  module GuideResultsTable
    PATH = File.expand_path("../../../docs/guide/javascript_runtimes.md", __dir__)
    HEAD = "| application | requests |"

    # @param found [Hash{String => Hash{String => Array<Difference>}}] by application and command
    # @return [Array<String>]
    def self.table(found)
      rows = found.map do |application, by_command|
        [application, Requests.all[application].size, *COMMANDS.map { |command| cell(by_command[command]) }]
      end
      head = ["application", "requests", *COMMANDS.map { |name| "`#{name}`" }]
      [head, Array.new(head.size, "---"), *rows].map { |cells| "| #{cells.join(" | ")} |\n" }
    end

    # @return [Array<String>] of what is known, without a run
    def self.expected
      table(Requests::APPLICATIONS.to_h { |name| [name, COMMANDS.to_h { |command| [command, KNOWN.select { |one| one.of?(name, command) }] }] })
    end

    def self.write(found)
      lines = File.readlines(PATH)
      first = lines.index { |line| line.start_with?(HEAD) }
      lines[first, present(lines).size] = table(found)
      File.write(PATH, lines.join)
    end

    # @return [Array<String>] the table as the guide has it
    def self.present(lines = File.readlines(PATH))
      lines.drop_while { |line| !line.start_with?(HEAD) }.take_while { |line| line.start_with?("|") }
    end

    def self.cell(differences)
      differences.empty? ? "the same" : differences.map(&:reason).join("; ")
    end
    private_class_method :cell
  end
end
