# frozen_string_literal: true

module Upwell
  class Scheduler
    # Threads for blocking work. They start as needed, up to a limit. Further work waits in a queue.
    class WorkerPool
      # @return [Integer] the maximum of threads per scheduler
      SIZE = 8

      # A unit of work and its result.
      class Job
        # @param work [Proc]
        def initialize(work)
          @work = work
          @done = Thread::Queue.new
        end

        # Does the work, on a worker thread.
        def run
          @thread = Thread.current
          @value = @work.call
        rescue Exception => e # rubocop:disable Lint/RescueException
          @error = e
        ensure
          @done.close
        end

        # Waits until the work is done.
        #
        # @return [Object] the work's result
        # @raise [Exception] the work's exception
        def value
          @done.pop
          raise @error if @error

          @value
        end

        # @return [Boolean]
        def done?
          @done.closed?
        end

        # Interrupts the work where it runs without Ruby's lock. The caller still has to wait for its end.
        def interrupt
          @thread&.wakeup unless done?
        rescue ThreadError
          nil # the work has just ended
        end
      end

      def initialize
        @jobs = Thread::Queue.new
        @threads = []
        @process = Process.pid
      end

      # Runs the block on a worker. If an exception is raised in the fiber meanwhile, the call ends and the worker continues.
      #
      # @return [Object] the block's result
      def call(&work)
        start(work).value
      end

      # Runs work that refers to the caller's stack: unlike {#call}, it never returns before the work is done.
      def finish(&work)
        job = start(work)
        job.value
      ensure
        wait_for(job) if job && !job.done?
      end

      # Ends the threads once the queue is empty.
      #
      # @return [void]
      def close
        @jobs.close
      end

      private

      def start(work)
        job = Job.new(work)
        forget_parent unless @process == Process.pid
        @jobs << job
        @threads << Thread.new { run } if @jobs.size > @jobs.num_waiting && @threads.size < SIZE
        job
      end

      # A forked child does not inherit its parent's threads.
      def forget_parent
        initialize
      end

      def run
        while (job = @jobs.pop)
          job.run
        end
      end

      def wait_for(job)
        job.interrupt
        job.value
      rescue Exception # rubocop:disable Lint/RescueException
        retry unless job.done?
      end
    end
  end
end
