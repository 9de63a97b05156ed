# frozen_string_literal: true

require "socket"
require_relative "../../clock"
require_relative "predecessor"

module Upwell
  class Server
    module HotRestart
      # The new server, as the running one sees it: it starts, reports its process id, and reports once it is ready.
      class Successor
        REPORT_BYTES = 256 # per read

        # @return [Integer] the process id
        attr_reader :pid
        # @return [UNIXSocket] becomes readable when the new server reports or ends
        attr_reader :report
        # @return [Float] the time until which the new server must be ready, see {Clock}
        attr_reader :deadline
        # @return [String, nil] the reason why the new server takes nothing over
        attr_reader :failure

        # Starts the new server.
        #
        # @param command_line [CommandLine]
        # @param listeners [Array<Listening::Listeners::Listener>] that it takes over
        # @param seconds [Numeric] in which it must be ready
        # @raise [SystemCallError, ThreadError] when the system cannot start a process or a thread
        def initialize(command_line, listeners, seconds)
          @seconds = seconds
          @deadline = Clock.now + seconds
          @text = +""
          @report, theirs = UNIXSocket.pair
          @pid = start(command_line, theirs, listeners.uniq(&:socket))
        rescue SystemCallError, ThreadError
          @report&.close
          raise
        ensure
          theirs&.close
        end

        # Reads what the new server has reported, and kills it when it is late.
        #
        # @param now [Float]
        # @return [Boolean] whether it is ready
        def ready?(now = Clock.now)
          return fail_as("ended before it was ready; see its message above") unless read_report
          return true if @text.include?(Predecessor::READY)
          return false if now < @deadline

          fail_as(format("was not ready within %g s; raise --boot-timeout if it needs longer", @seconds))
        end

        # Tells the new server that the sockets are its own.
        def take_over
          @report.write_nonblock(Predecessor::YOURS)
        rescue SystemCallError
          nil # it has ended meanwhile
        ensure
          @report.close
        end

        # Ends the new server.
        def kill
          read_report # it may tell the process id
          Process.kill("KILL", pid)
        rescue SystemCallError
          nil
        ensure
          @report.close
        end

        private

        def start(command_line, report, listeners)
          kept, own = listeners.partition(&:inherited)
          sockets = [kept, own.sort_by { |listener| listener.index.to_i }].map { |list| list.map { |each| describe(each) } }
          text = [[report.fileno], *sockets].map { |list| list.join(",") }.join(";")
          started = command_line.spawn({ Predecessor::VARIABLE => text }, [report, *listeners.map(&:socket)])
          reap(started)
          started
        end

        # The file of a UNIX socket has a number, so the new server recognizes another file at the path.
        def describe(listener)
          [listener.socket.fileno, *listener.file_number].join(":")
        end

        def reap(started)
          Process.detach(started)
        rescue ThreadError # no process could watch the new server
          Process.kill("KILL", started)
          Process.wait(started)
          raise
        end

        # @return [Boolean] false at the end of the new server
        def read_report
          bytes = @report.read_nonblock(REPORT_BYTES, exception: false)
          return !bytes.nil? unless bytes.is_a?(String)

          @text << bytes
          @pid = @text.to_i if @text.include?("\n")
          true
        rescue SystemCallError
          false
        end

        def fail_as(reason)
          @failure = reason
          kill
          false
        end
      end
    end
  end
end
