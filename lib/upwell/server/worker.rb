# frozen_string_literal: true

require "socket"
require_relative "../clock"
require_relative "fork"
require_relative "heartbeat"

module Upwell
  class Server
    # A worker process, as the supervisor sees it: it boots, is ready, drains, and has ended. Two pairs of sockets join them: unlike pipes, these
    # raise no SIGPIPE. On one the worker tells that it is ready, and then again and again that it lives ({Heartbeat}). The other is open while
    # the worker shall serve: at its end the worker drains, whether the supervisor closed it or died.
    class Worker
      VOICE_BYTES = 4096 # read at once
      START = "s" # the supervisor knows of the worker
      RETIRE = "r" # others serve from its sockets
      LATER_STATUS = 75 # of a worker that lacked what the system may give another (EX_TEMPFAIL)
      DRAIN_MARGIN = 2 # seconds beyond the worker's own deadline

      # The status of a worker that somebody else has waited for: a preloaded application may have threads in the supervisor.
      class UnknownStatus
        # @return [Boolean]
        def success?
          false
        end

        # @return [nil]
        def exitstatus
          nil
        end

        # @return [String] for the operator
        def to_s
          "nobody knows how, since the application has waited for it"
        end
      end

      # @return [Integer]
      attr_reader :pid
      # @return [Process::Status, UnknownStatus, nil] once ended
      attr_reader :status
      # @return [String, nil] the backend in use, once ready
      attr_reader :backend
      # @return [Float, nil] when it will be killed, unless it tells something before
      attr_reader :deadline

      # @param inherited [Array<IO>] what the new process shall not keep
      # @param configuration [Configuration] has the seconds to become ready, and those without a sign of life from then on
      # @yieldparam voice [UNIXSocket] told the backend once the worker accepts, and from then on that it lives
      # @yieldparam alive [UNIXSocket] has a byte when the worker shall drain, and its end when nobody shall serve from its sockets any more
      # @yieldreturn [Integer] the exit status
      # @return [Worker]
      # @raise [SystemCallError] when the system has none to give
      def self.fork(inherited, configuration)
        pipes = UNIXSocket.pair
        pipes.concat(UNIXSocket.pair)
        ear, voice, alive_reader, alive = pipes
        pid = Fork.call do
          [ear, alive, *inherited].each(&:close)
          alive_reader.getc ? yield(voice, alive_reader) : 1
        end
        [voice, alive_reader].each(&:close)
        new(pid, ear, alive, configuration)
      rescue StandardError # no descriptors or no processes are left, or libraries fail around a fork
        pipes&.each(&:close)
        raise
      end

      # @see .fork
      def initialize(pid, ear, alive, configuration)
        @pid = pid
        @ear = ear
        @alive = alive
        @silence_max = configuration.worker_timeout
        @drain_timeout = configuration.drain_timeout
        @born = Clock.now
        @deadline = @born + configuration.boot_timeout
        @draining = false
        Heartbeat.tell(@alive, START)
      end

      # Hears whether it is ready and lives, and kills it when it is late.
      #
      # @param now [Float]
      def check(now)
        return if status

        hear unless @ear.closed?
        give_up if deadline && now >= deadline
      end

      # The supervisor did not run for a while, and may not have heard what was told: that is not the worker's fault.
      #
      # @param seconds [Float]
      def excuse(seconds)
        return unless deadline

        @deadline = serves? ? Clock.now + @silence_max : deadline + seconds
      end

      # @return [Boolean]
      def ready?
        !backend.nil?
      end

      # @param now [Float]
      # @return [Boolean] whether new clients are for it: one that misses its signs may be stopped, and accept nobody
      def accepts?(now)
        serves? && now < deadline - @silence_max + (Heartbeat::MISSED * Heartbeat.interval(@silence_max))
      end

      # Has it finish its requests and end; its sockets are for others.
      #
      # @param seconds [Numeric] the deadline that the worker sets itself
      def retire(seconds)
        return if draining?

        await_end(seconds) if Heartbeat.tell(@alive, RETIRE)
      end

      # Has it finish its requests, refuse who comes, and end.
      #
      # @param seconds [Numeric] the deadline that the worker sets itself
      def drain(seconds)
        @alive.close
        await_end(seconds)
      end

      # @return [Boolean] whether it takes in nobody any more: as it was told to here, or by a signal of its own
      def draining?
        @draining
      end

      # @return [Boolean]
      def ended?
        return true if status

        @status = wait(Process::WNOHANG)
        pipes.each(&:close) if status
        !status.nil?
      end

      # Ends it at once.
      def kill
        return if status

        signal("KILL")
        @status = wait
        pipes.each(&:close)
      end

      # @return [Boolean] whether it ended for want of what another may find
      def lacked?
        status&.exitstatus == LATER_STATUS
      end

      # @param name [String]
      def signal(name)
        Process.kill(name, pid) unless status
      rescue Errno::ESRCH
        nil
      end

      # @return [Array<IO>] the supervisor's ends
      def pipes
        [@ear, @alive]
      end

      # @return [IO, nil] readable when there is something to hear
      def awaited
        @ear unless @ear.closed?
      end

      # @return [Float] seconds since it was forked
      def age
        Clock.now - @born
      end

      private

      def wait(flags = 0)
        Process.wait2(pid, flags)&.last
      rescue Errno::ECHILD
        UnknownStatus.new
      end

      def await_end(seconds)
        @draining = true
        @deadline = Clock.now + seconds + DRAIN_MARGIN
      end

      def hear
        text = @ear.read_nonblock(VOICE_BYTES, exception: false)
        return if text == :wait_readable
        return @ear.close unless text # its end will tell

        @backend ||= text.lines.first.chomp
        return if draining?

        @deadline = Clock.now + @silence_max
        await_end(@drain_timeout) if text.include?(Heartbeat::LEAVING)
      end

      # One that is being killed has no deadline.
      def serves?
        ready? && !draining? && !deadline.nil?
      end

      # It is not heard any more: what it said just before may be that it is ready.
      def give_up
        return excuse(0) if serves? && traced?

        @deadline = nil
        @ear.close
        Log.tell("process #{pid} #{failure} and is killed")
        signal("KILL")
      end

      def failure
        return "did not finish its requests in time" if draining?

        ready? ? format("has given no sign of life for %g s", @silence_max) : "was not ready in time"
      end

      # By a debugger, which may stop it for as long as it likes. Linux tells; elsewhere a longer time-out helps.
      def traced?
        File.foreach("/proc/#{pid}/status").any?(/\ATracerPid:\s+[1-9]/)
      rescue SystemCallError
        false
      end
    end
  end
end
