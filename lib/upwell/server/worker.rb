# frozen_string_literal: true

require_relative "worker_process"

module Upwell
  class Server
    # A worker process, as the supervisor sees it.
    class Worker
      # @return [Integer]
      attr_reader :pid
      # @return [Process::Status, nil] once ended
      attr_reader :status

      # @param index [Integer] of the slot
      # @param listeners [Array<Listeners::Listener>]
      # @param configuration [Configuration]
      # @param log_file [LogFile]
      # @param load_app [#call] returns the application
      # @param closing [Array<IO>] the supervisor's own descriptors
      # @return [Worker]
      def self.fork(index, listeners, configuration, log_file, load_app, closing)
        ready_reader, ready_writer = IO.pipe
        alive_reader, alive_writer = IO.pipe
        pid = Process.fork do
          [ready_reader, alive_writer, *closing].each(&:close)
          status = WorkerProcess.new(index, listeners, configuration, log_file, load_app).run(ready_writer, alive_reader)
          $stdout.flush
          exit!(status)
        end
        [ready_writer, alive_reader].each(&:close)
        new(pid, ready_reader, alive_writer)
      end

      # @param pid [Integer]
      # @param ready [IO] readable once the worker is ready, or has ended
      # @param alive [IO] closed by the supervisor's end, however it ends
      def initialize(pid, ready, alive)
        @pid = pid
        @ready = ready
        @alive = alive
        @born = now
      end

      # @param seconds [Numeric]
      # @return [Boolean] whether it became ready in time
      def await_ready(seconds)
        !@ready.wait_readable(seconds).nil? && @ready.gets&.chomp == WorkerProcess::READY
      end

      # @param name [String]
      def signal(name)
        Process.kill(name, pid)
      rescue Errno::ESRCH
        nil
      end

      # @return [Boolean]
      def ended?
        return true if @status

        _, @status = Process.wait2(pid, Process::WNOHANG)
        close if @status
        !@status.nil?
      end

      # Waits until the process has ended.
      def await_end
        return if @status

        _, @status = Process.wait2(pid)
        close
      end

      # @return [Float] seconds since it was forked
      def age
        now - @born
      end

      private

      def close
        [@ready, @alive].each(&:close)
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end
