# frozen_string_literal: true

module Upwell
  module Opal
    # What tells whether files and folders still are what a program was made of. Each is looked at before it is read: what is changed meanwhile
    # is seen to be changed by the next start.
    class Stamps
      # @param path [String]
      # @return [Array, nil] what changes with it; nothing when it is not there
      def self.of(path)
        stat = File.stat(path)
        [stat.size, stat.mtime.to_r, stat.ino]
      rescue SystemCallError
        nil
      end

      def initialize
        @stamps = {}
      end

      # Takes note of what is there, or is not; of each path once.
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
