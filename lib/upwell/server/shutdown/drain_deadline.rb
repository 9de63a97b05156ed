# frozen_string_literal: true

require_relative "../../clock"
require_relative "termination"

module Upwell
  class Server
    module Shutdown
      # The deadline for requests in flight when the server drains. At the deadline the process exits with status 1 and logs the reason. This
      # works even when the loop cannot run: the application may occupy its thread, or a C extension may hold Ruby's lock.
      class DrainDeadline
        LAST_LOOK = 0.05 # seconds before the exit, when the unfinished requests are listed and counted
        GRACE = 0.5 # seconds in which the loop should end by itself
        GRACE_WITHOUT_RUBY = 2 # seconds in which Ruby should end the process; Ruby may be slow on a busy machine
        EXIT_MAX = 2 # seconds for at_exit handlers

        # Starts the two threads now: when the server drains, the system may be out of threads.
        #
        # @param server [Server, StaticServer]
        # @param seconds [Numeric]
        # @yield before an immediate exit, after which no other code of the process runs
        # @raise [ThreadError, SystemCallError] when the system has no thread or no descriptor left
        def initialize(server, seconds, &at_once)
          @server = server
          @seconds = seconds
          @at_once = at_once
          @begun = Thread::Queue.new
          ExitDeadline.prepare(Log.json)
          @thread = Thread.new { await }.tap { |thread| thread.name = "upwell deadline" }
        end

        # Starts the deadline when one of these signals arrives, even if Ruby cannot run then. The signals must be trapped already.
        #
        # @param signals [Array<String>]
        # @param delay [Numeric] seconds from the signal to {#begin}
        def watch(signals, delay)
          ExitDeadline.watch(signals.map { |name| Signal.list.fetch(name) }, delay + @seconds + GRACE_WITHOUT_RUBY, without_ruby)
        end

        # Sets the deadline without Ruby now: Ruby may not run when the delay ends.
        #
        # @param delay [Numeric] seconds from now to {#begin}
        def announce(delay)
          ExitDeadline.set(delay + @seconds + GRACE_WITHOUT_RUBY, without_ruby)
        end

        # Starts the deadline now, or starts the same deadline again.
        def begin
          @end = Clock.now + @seconds
          ExitDeadline.set(@seconds + GRACE_WITHOUT_RUBY, without_ruby)
          @begun << true
        end

        # Sets a deadline for Ruby's exit handlers. The server has ended when this method is called.
        #
        # @param finished [Boolean] whether all requests were finished
        def served(finished)
          @thread.kill
          Log.tell(given_up) unless finished
          return unless @end

          left = [@end - Clock.now, 0].max
          ExitDeadline.set(left + EXIT_MAX, "exit forced: an at_exit block or a thread of the application does not end in time")
        end

        private

        def await
          @begun.pop
          sleep_until_end(-LAST_LOOK)
          @left = Termination.list(@server) + Termination.totals(@server)
          sleep_until_end(GRACE)
          give_up
        end

        # The time of exit moves when the deadline starts again.
        def sleep_until_end(offset)
          while (left = @end + offset - Clock.now).positive?
            sleep(left)
          end
        end

        # Ruby runs, but each of its waits may take 0.1 s while another thread is busy.
        def give_up
          ExitDeadline.set(GRACE_WITHOUT_RUBY, without_ruby)
          @at_once&.call # the block comes first: the reader of the log may be gone
          Log.tell(given_up)
        ensure
          ExitDeadline.end_process
        end

        def given_up
          format("exiting with requests in flight after %g s of --drain-timeout%s", @seconds, @left)
        end

        def without_ruby
          format("exiting with requests in flight after %g s of --drain-timeout: a C extension holds Ruby's lock (GVL)", @seconds)
        end
      end
    end
  end
end
