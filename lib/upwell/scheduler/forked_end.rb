# frozen_string_literal: true

module Upwell
  class Scheduler
    # At its end Ruby unlocks the mutexes of the main thread, and wakes who waits for them. In a child process that was forked while fibers wait
    # for one, these fibers are the parent's: Ruby 3.1 to 3.4 know no thread to wake, and abort, unless a scheduler is asked to. This one does
    # nothing.
    class ForkedEnd
      # Has the children of this process end so.
      #
      # @return [void]
      def self.prepare
        parent = Process.pid
        return if @prepared == parent

        @prepared = parent
        at_exit { Fiber.set_scheduler(new) unless Process.pid == parent || Fiber.scheduler }
      end

      %i[block unblock kernel_sleep io_wait fiber_interrupt yield close].each { |hook| define_method(hook) { |*| nil } }
    end
    private_constant :ForkedEnd
  end
end
