# frozen_string_literal: true

module Bench
  # What a process that ended too early said of the reason: its first line with an error, else its last one. Files go without their folders,
  # which are of this machine.
  module LogErrorLine
    LENGTH_MAX = 300
    TELLING = /\[BUG\]|error|cannot|invalid/i
    FOLDERS = %r{(?<![^\s"'(<])(?:/[^/\s:]+)+/}

    # @param log [String] path of the process's output
    # @return [String]
    def self.of(log)
      lines = File.readlines(log, encoding: Encoding::UTF_8).map { |line| line.scrub.strip }.reject(&:empty?)
      (lines.grep(TELLING).first || lines.last || "it said nothing").gsub(FOLDERS, "").slice(0, LENGTH_MAX)
    end
  end
end
