# frozen_string_literal: true

require_relative "../../clock"
require_relative "signals"

module Upwell
  class Server
    module Control
      # A pipe for the supervisor's signals. The supervisor waits for it together with the workers' messages.
      class SignalPipe
        BYTES_MAX = 4096 # per read

        # @return [Array<IO>] both ends, the read end first
        attr_reader :ends

        def initialize
          @ends = IO.pipe
          @rest = ""
        end

        # Installs handlers that write to the pipe. A child process has these handlers until it installs its own; its signals are not written.
        #
        # @param names [Array<String>]
        def trap(names)
          supervisor = Process.pid
          writer = ends.last
          names.each do |name|
            Signals.handle(name) { writer.write_nonblock("#{name} #{Clock.now}\n", exception: false) if Process.pid == supervisor }
          end
        end

        # Reads the signals that have arrived.
        #
        # @yieldparam name [String] of a signal
        # @yieldparam at [Float] the time of arrival, see {Clock}
        def each
          bytes = ends.first.read_nonblock(BYTES_MAX, exception: false)
          return if bytes == :wait_readable

          *lines, @rest = "#{@rest}#{bytes}".split("\n", -1)
          lines.each do |line|
            name, at = line.split
            yield name, at.to_f
          end
        end
      end
    end
  end
end
