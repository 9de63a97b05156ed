# frozen_string_literal: true

module Upwell
  class Scheduler
    # Threads for what can only be done by blocking one. They are started as they are needed, up to a bound; what comes
    # beyond it waits in a queue.
    class WorkerPool
      # @return [Integer] threads of one scheduler at most
      SIZE = 8

      # What is to be done, and how it went.
      class Job
        # @param work [Proc]
        def initialize(work)
          @work = work
          @done = Thread::Queue.new
        end

        # On a worker: does the work.
        def run
          @thread = Thread.current
          @value = @work.call
        rescue Exception => e # rubocop:disable Lint/RescueException
          @error = e
        ensure
          @done.close
        end

        # Waits until it is done.
        #
        # @return [Object] what the work returned
        # @raise [Exception] what it raised
        def value
          @done.pop
          raise @error if @error

          @value
        end

        # @return [Boolean]
        def done?
          @done.closed?
        end

        # Has it end early, where Ruby's lock is not held; to be waited for nevertheless.
        def interrupt
          @thread&.wakeup unless done?
        rescue ThreadError
          nil # it has just ended
        end
      end

      def initialize
        @jobs = Thread::Queue.new
        @threads = []
        @process = Process.pid
      end

      # Does what the block says on a worker. An exception raised in the fiber meanwhile leaves the worker to itself.
      #
      # @return [Object] what the block returns
      def call(&work)
        start(work).value
      end

      # The same, for work that refers to the caller's stack: never returns before it is done.
      def finish(&work)
        job = start(work)
        job.value
      ensure
        wait_for(job) if job && !job.done?
      end

      # Its threads end when they have done what there is.
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

      # The threads of a process are not its child's.
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
