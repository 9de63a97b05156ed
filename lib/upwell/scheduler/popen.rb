# frozen_string_literal: true

module Upwell
  # Described in ../scheduler.rb.
  class Scheduler
    # Is prepended to IO's own methods where Ruby does not tell of what it closes: what IO.popen has opened it closes at the end of the block,
    # but by no method.
    module Popen
      class << self
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

        # Which a subclass has not made another.
        def close_by_method(io)
          IO.instance_method(:close).bind_call(io)
        end
      end

      # @return [Object] what the block returns; or an IO; or nil in the child of a fork, where there is nothing to close
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
