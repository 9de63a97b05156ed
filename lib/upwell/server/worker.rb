# frozen_string_literal: true

require_relative "clock"

module Upwell
  class Server
    # A worker process, as the supervisor sees it: it boots, is ready, drains, and has ended. Two pipes join them. On one the worker tells that
    # it is ready, and then again and again that it lives ({Heartbeat}). The other is open as long as the worker shall serve: at its end the
    # worker drains, whether the supervisor closed it or died.
    class Worker
      VOICE_BYTES = 4096 # read at once
      RETIRE = "r" # others serve from its sockets
      DRAIN_MARGIN = 2 # seconds beyond the worker's own deadline

      # The status of a worker that somebody else has waited for: a preloaded application may have threads in the supervisor.
      class UnknownStatus
        # @return [Boolean]
        def success?
          false
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
      # @yieldparam voice [IO] told the backend once the worker accepts, and from then on that it lives
      # @yieldparam alive [IO] has a byte when the worker shall drain, and its end when nobody shall serve from its sockets any more
      # @yieldreturn [Integer] the exit status
      # @return [Worker]
      # @raise [SystemCallError] when the system has none to give
      def self.fork(inherited, configuration)
        pipes = []
        2.times { pipes.concat(IO.pipe) }
        ear, voice, alive_reader, alive = pipes
        pid = Process.fork do
          [ear, alive, *inherited].each(&:close)
          exit(yield(voice, alive_reader))
        end
        [voice, alive_reader].each(&:close)
        new(pid, ear, alive, configuration)
      rescue SystemCallError # no descriptors or no processes are left
        pipes.each(&:close)
        raise
      end

      # @see .fork
      def initialize(pid, ear, alive, configuration)
        @pid = pid
        @ear = ear
        @alive = alive
        @silence_max = configuration.worker_timeout
        @born = Clock.now
        @deadline = @born + configuration.boot_timeout
        @draining = false
      end

      # Hears whether it is ready and lives, and kills it when it is late.
      #
      # @param now [Float]
      def check(now)
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

      # Has it finish its requests and end; its sockets are for others.
      #
      # @param seconds [Numeric] the deadline that the worker sets itself
      def retire(seconds)
        return if draining?

        @alive.write_nonblock(RETIRE)
        await_end(seconds)
      rescue Errno::EPIPE
        nil # it has ended
      end

      # Has it finish its requests, refuse who comes, and end.
      #
      # @param seconds [Numeric] the deadline that the worker sets itself
      def drain(seconds)
        @alive.close
        await_end(seconds)
      end

      # @return [Boolean]
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
        @deadline = Clock.now + @silence_max unless draining?
      end

      def serves?
        ready? && !draining?
      end

      def give_up
        return excuse(0) if serves? && traced?

        @deadline = nil
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
