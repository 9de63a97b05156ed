# frozen_string_literal: true

module Upwell
  module Opal
    # Records files and directories, to detect whether a program's inputs have changed. Each is recorded before it is read, so the next start
    # detects a change in between.
    class Stamps
      # Reads the size, the time of change and the inode of a file.
      #
      # @param path [String]
      # @return [Array, nil] values that change with the file; nil when it does not exist
      def self.of(path)
        stat = File.stat(path)
        [stat.size, stat.mtime.to_r, stat.ino]
      rescue SystemCallError
        nil
      end

      def initialize
        @stamps = {}
      end

      # Records paths, each path once, whether they exist or not.
      #
      # @param paths [Array<String>]
      def note(*paths)
        paths.each { |path| @stamps[path] = Stamps.of(path) unless @stamps.key?(path) }
      end

      # @return [Hash{String => Array, nil}]
      def to_h
        @stamps
      end
    end
  end
end
