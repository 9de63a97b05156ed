# frozen_string_literal: true

require "open3"
require "tempfile"

module Bench
  # How often processes enter the kernel, counted by perf. That slows them, so it is not done while anything else is measured.
  module SystemCalls
    EVENT = "raw_syscalls:sys_enter"

    class << self
      # @param pids [Array<Integer>]
      # @yieldparam counter [Array<String>] to be put before the command that is run meanwhile; empty where perf cannot count
      # @return [Array(Object, Integer)] what the block returned, and the number of calls or nil
      def count(pids)
        return [yield([]), nil] unless available?

        Tempfile.create("upwell-perf") do |file|
          result = yield ["perf", "stat", "-x", ",", "-e", EVENT, "-o", file.path, "-p", pids.join(","), "--"]
          [result, parse(file.read)]
        end
      end

      # @param output [String] of perf stat -x ,
      # @return [Integer, nil]
      def parse(output)
        output[/^(\d+),.*#{EVENT}/, 1]&.to_i
      end

      private

      def available?
        return @available if defined?(@available)

        @available = Open3.capture2e("perf", "stat", "-e", EVENT, "true").last.success?
      rescue Errno::ENOENT
        @available = false
      end
    end
  end
end
