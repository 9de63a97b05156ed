# frozen_string_literal: true

require_relative "../support/hung_child"

module Torture
  # The children of fork, which live for some milliseconds. One that hangs keeps the pipes of all activities, which then wait for their ends: the
  # watch looks for it.
  module ForkedChildren
    LIFE_MAX = 15 # seconds of ticks

    # It was killed, as it hung.
    Hung = Class.new(StandardError)

    @born = {} # when, in ticks
    @killed = []
    @ticks = @count = 0

    class << self
      def add(pid)
        @count += 1
        @born[pid] = @ticks
      end

      def forget(pid)
        @born.delete(pid)
      end

      # @raise [Hung] if it has not ended of its own accord
      def ended(pid)
        forget(pid)
        raise Hung if @killed.include?(pid)
      end

      # The watch calls it every so many seconds.
      def tick(seconds)
        @ticks += 1
        @born.to_a.each { |pid, born| end_hung(pid) if (@ticks - born) * seconds > LIFE_MAX && forget(pid) }
      end

      private

      def end_hung(pid)
        return unless (waits_in = HungChild.kill(pid))

        @killed << pid
        excused = HungChild.excused?(waits_in, @killed.size, @count)
        FailureReport.sound("a child of fork hangs in #{waits_in}, the #{@killed.size}. of #{@count}") unless excused
      end
    end
  end
end
