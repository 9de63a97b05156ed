# frozen_string_literal: true

require "opal/source_map"

module Upwell
  module Opal
    class Build
      # Maps lines of JavaScript to lines of Ruby, in the format of a source map (ECMA-426). Lines are enough for backtraces, and take a tenth of
      # the size of columns.
      module SourceMap
        # Maps the lines of one unit.
        #
        # @param fragments [Array<Opal::Fragment>]
        # @return [String] for each line of JavaScript the columns where another line of Ruby begins, and a semicolon
        def self.of(fragments)
          lines = [[]]
          column = 0
          fragments.each do |fragment|
            fragment.code.split("\n", -1).each_with_index do |piece, index|
              (lines << []) && (column = 0) unless index.zero?
              note(lines.last, column, fragment.line) unless piece.strip.empty?
              column += piece.length
            end
          end
          encode(lines)
        end

        def self.note(segments, column, line)
          segments << [column, line - 1] if line && segments.last&.last != line - 1
        end
        private_class_method :note

        # Each number is a difference: of columns within a line, and of the Ruby line to the last named one.
        def self.encode(lines)
          before = 0
          lines[0..-2].map do |line|
            column_before = 0
            line.map do |column, ruby|
              segment = ::Opal::SourceMap::VLQ.encode([column - column_before, 0, ruby - before, 0])
              column_before = column
              before = ruby
              segment
            end.join(",")
          end.join(";")
        end
        private_class_method :encode

        # Joins the mappings of all units.
        #
        # @param units [Array<Unit>]
        # @return [Hash] the source map of all units, in their order
        def self.join(units)
          line = 0
          sections = units.filter_map do |unit|
            section = { offset: { line: line, column: 0 },
                        map: { version: 3, sources: [unit.name], names: [], mappings: unit.mappings } }
            line += unit.javascript.count("\n")
            section unless unit.mappings.empty?
          end
          { version: 3, sections: sections }
        end
      end
    end
  end
end
