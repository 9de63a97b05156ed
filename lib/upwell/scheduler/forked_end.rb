# frozen_string_literal: true

module Upwell
  class Scheduler
    # At its end Ruby unlocks the mutexes of the main thread, and wakes who waits for them. In a child process that was forked while fibers wait
    # for one, these fibers are the parent's: Ruby 3.1 to 3.4 know no thread to wake, and abort, unless a scheduler is asked to. This one does
    # nothing, and so comes after all that the application has its children do at their end.
    class ForkedEnd
      class << self
        # Has the children of this process end so.
        #
        # @return [void]
        def prepare
          @forked ||= forked?
          @parent = Process.pid
          register unless @registered
        end

        # Handlers run in the reverse order: this one is there before those of an application that is loaded after the library.
        def register
          @registered = true
          at_exit do
            @registered = false
            Fiber.set_scheduler(new) if (@forked || forked?) && !Fiber.scheduler
          end
        end

        private

        def forked?
          @parent && @parent != Process.pid
        end
      end

      register

      %i[block unblock kernel_sleep io_wait fiber_interrupt yield close].each { |hook| define_method(hook) { |*| nil } }
    end
    private_constant :ForkedEnd
  end
end
