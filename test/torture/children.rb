# frozen_string_literal: true

module Torture
  # The children of fork, which live for some milliseconds. One that hangs keeps the pipes of all activities, which then wait for their ends: the
  # watch looks for it. On Ruby 3.4 some may hang, for a lock that a thread of the parent had: see docs/guide/scheduler.md.
  module Children
    LIFE_MAX = 15 # seconds of ticks
    MAY_HANG = RUBY_VERSION.start_with?("3.4.")
    HUNG_MAX = 2 # children that are excused, and ...
    HUNG_SHARE_MAX = 0.02 # ... of all

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
        return if zombie?(pid)

        waits_in = File.read("/proc/#{pid}/wchan")
        Process.kill("KILL", pid)
        @killed << pid
        Alarm.sound("a child of fork hangs in #{waits_in}, the #{@killed.size}. of #{@count}") unless excused?(waits_in)
      rescue SystemCallError
        nil # it was waited for just now
      end

      # It has ended, and another has the pipe that its parent reads from.
      def zombie?(pid)
        File.read("/proc/#{pid}/stat").match?(/\) Z/)
      end

      def excused?(waits_in)
        MAY_HANG && waits_in.start_with?("futex_") && @killed.size <= HUNG_MAX + (@count * HUNG_SHARE_MAX)
      end
    end
  end
end
