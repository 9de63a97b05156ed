# frozen_string_literal: true

module Upwell
  class Scheduler
    # At process exit Ruby unlocks the main thread's mutexes and wakes their waiters. In a child that was forked while fibers wait for a mutex,
    # these fibers belong to the parent. Ruby 3.1 to 3.4 find no thread to wake and abort, unless a scheduler handles the call. This
    # scheduler does nothing, and is set after all exit handlers of the application.
    class ForkedChildMutexes
      class << self
        # Installs the exit handler for child processes.
        #
        # @return [void]
        def prepare
          @forked ||= forked?
          @parent = Process.pid
          register unless @registered
        end

        # Exit handlers run in reverse order. This one is registered before those of an application that is loaded after the library.
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
    private_constant :ForkedChildMutexes
  end
end
