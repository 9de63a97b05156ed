# frozen_string_literal: true

require_relative "clock"

module Upwell
  class Server
    # A worker process, as the supervisor sees it: it boots, is ready, drains, and has ended. Two pipes join them. On one the worker tells that
    # it is ready. The other is open as long as the worker shall serve: at its end the worker drains, whether the supervisor closed it or died.
    class Worker
      BOOT_MAX = 60 # seconds to become ready
      DRAIN_MARGIN = 2 # seconds beyond the worker's own deadline

      # @return [Integer]
      attr_reader :pid
      # @return [Process::Status, nil] once ended
      attr_reader :status
      # @return [String, nil] the backend in use, once ready
      attr_reader :backend
      # @return [Float, nil] when it will be killed
      attr_reader :deadline

      # @param inherited [Array<IO>] what the new process shall not keep
      # @yieldparam ready [IO] told the backend once the worker accepts
      # @yieldparam alive [IO] at its end when the worker shall drain
      # @yieldreturn [Integer] the exit status
      # @return [Worker]
      def self.fork(inherited)
        ready, ready_writer = IO.pipe
        alive_reader, alive = IO.pipe
        pid = Process.fork do
          [ready, alive, *inherited].each(&:close)
          exit(yield(ready_writer, alive_reader))
        end
        [ready_writer, alive_reader].each(&:close)
        new(pid, ready, alive)
      end

      # @see .fork
      def initialize(pid, ready, alive)
        @pid = pid
        @ready = ready
        @alive = alive
        @born = Clock.now
        @deadline = @born + BOOT_MAX
        @draining = false
      end

      # Hears whether it is ready, and kills it when it is late.
      def check
        hear unless @ready.closed?
        kill_late if deadline && Clock.now >= deadline
      end

      # @return [Boolean]
      def ready?
        !backend.nil?
      end

      # Has it finish its requests and end.
      #
      # @param seconds [Numeric] the deadline that the worker sets itself
      def drain(seconds)
        return if draining?

        @draining = true
        @alive.close
        @deadline = Clock.now + seconds + DRAIN_MARGIN
      end

      # @return [Boolean]
      def draining?
        @draining
      end

      # @return [Boolean]
      def ended?
        return true if status

        _, @status = Process.wait2(pid, Process::WNOHANG)
        pipes.each(&:close) if status
        !status.nil?
      end

      # Ends it at once.
      def kill
        return if status

        signal("KILL")
        _, @status = Process.wait2(pid)
        pipes.each(&:close)
      end

      # @param name [String]
      def signal(name)
        Process.kill(name, pid) unless status
      rescue Errno::ESRCH
        nil
      end

      # @return [Array<IO>] the supervisor's ends
      def pipes
        [@ready, @alive]
      end

      # @return [IO, nil] readable when there is something to hear
      def awaited
        @ready unless @ready.closed?
      end

      # @return [Float] seconds since it was forked
      def age
        Clock.now - @born
      end

      private

      def hear
        text = @ready.read_nonblock(64, exception: false)
        return if text == :wait_readable

        @ready.close # nothing more will come, or it failed, and its end will tell
        return unless text

        @backend = text.chomp
        @deadline = nil unless draining?
      end

      def kill_late
        @deadline = nil
        Log.tell "process #{pid} #{draining? ? "did not finish its requests" : "was not ready"} in time and is killed"
        signal("KILL")
      end
    end
  end
end
