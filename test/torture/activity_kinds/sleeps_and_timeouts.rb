# frozen_string_literal: true

require "timeout"

module Torture
  module ActivityKinds
    # What waits for time.
    module SleepsAndTimeouts
      def nap
        start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        sleep(time = short)
        check(Process.clock_gettime(Process::CLOCK_MONOTONIC) - start >= time - 0.001, "time")
      end

      def yield_turns
        @dice.rand(1..20).times { sleep(0) && at_home }
      end

      def timed_out_read
        reader, = own(*[IO.pipe, UNIXSocket.pair].sample(random: @dice))
        time_out { reader.read(1) }
      end

      def timed_out_write
        socket, = own(*UNIXSocket.pair)
        time_out { socket.write("x" * 4_000_000) }
      end

      def timed_out_pop
        queue = own_queue(Thread::Queue.new)
        time_out { queue.pop }
        queue << @name
        check(queue.pop(true) == @name, "element")
      end

      def timed_out_lock
        mutex = Thread::Mutex.new
        locked = Thread::Queue.new
        enough = Thread::Queue.new
        beside { mutex.synchronize { (locked << true) && enough.pop } }
        locked.pop
        time_out { mutex.lock }
        enough << true
        mutex.synchronize { at_home }
      end

      def wait_in_vain
        reader, writer = own(*UNIXSocket.pair)
        check(reader.wait_readable(short).nil?, "readiness")
        writer << "x"
        check(reader.wait_readable(LONG) == reader, "readiness")
      end

      def select_one
        return nap if RUBY_VERSION < "3.2" # no hook: the thread would wait

        pairs = Array.new(3) { IO.pipe }
        own(*pairs.flatten)
        beside { |dice| sleep(short(dice)) && (pairs[1].last << "x") }
        ready = nil
        ready = IO.select(pairs.map(&:first), nil, nil, 1) until ready # again, as Ruby does not end it when one of them is closed
        check(ready == [[pairs[1].first], [], []], "readiness")
      end

      private

      def time_out(&block)
        Timeout.timeout(short, &block)
        check(false, "end of what is stuck")
      rescue Timeout::Error
        nil
      end
    end
  end
end
