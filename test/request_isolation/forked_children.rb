# frozen_string_literal: true

require_relative "../support/hung_child"

module RequestIsolation
  # The children of fork. One that hangs has its client wait, and those whose connections it has a copy of.
  module ForkedChildren
    LIFE_MAX = 10 # seconds; less than a client waits

    @count = @hung = 0

    class << self
      # @return [void]
      def await(visit, pid)
        @count += 1
        watch = Thread.new { sleep(LIFE_MAX) && end_hung(visit, pid) }
        Process.wait(pid)
      ensure
        watch&.kill
      end

      # @return [void]
      def detach(visit, pid)
        @count += 1
        waiter = Process.detach(pid)
        Thread.new { waiter.join(LIFE_MAX) || end_hung(visit, pid) }
      end

      private

      def end_hung(visit, pid)
        waits_in = HungChild.kill(pid)
        return if waits_in.nil? || HungChild.excused?(waits_in, @hung += 1, @count)

        RequestIsolation.trouble(visit.id, "a child of fork hangs in #{waits_in}, the #{@hung}. of #{@count}")
      end
    end
  end
end
