# frozen_string_literal: true

module Upwell
  # This part of the scheduler handles IO.popen, see ../scheduler.rb.
  class Scheduler
    # Prepended to IO's singleton class where Ruby does not report closed IOs: IO.popen closes its IO without calling a method.
    module Popen
      class << self
        # Closes the IO of IO.popen.
        #
        # @param io [IO]
        # @return [void]
        def close(io)
          thread_killed? ? close_without_waiting(io) : close_by_method(io)
        end

        private

        def thread_killed?
          Thread.current.status == "aborting"
        end

        # When a thread is killed, Ruby does not wait for the process either.
        def close_without_waiting(io)
          closer = Thread.new { close_by_method(io) }
          closer.report_on_exception = false
          Thread.pass while closer.alive? && !io.closed?
        end

        # Calls IO's own `close`, even if a subclass overrides it.
        def close_by_method(io)
          IO.instance_method(:close).bind_call(io)
        end
      end

      # @return [Object] the block's result; or an IO; or nil in a forked child, which has no IO to close
      def popen(*, **)
        return super unless block_given?

        super do |io|
          yield io
        ensure
          Popen.close(io) if io
        end
      end
    end
    private_constant :Popen

    IO.singleton_class.prepend(Popen)
  end
end
