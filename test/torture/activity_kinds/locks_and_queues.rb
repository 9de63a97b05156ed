# frozen_string_literal: true

require "monitor"

module Torture
  module ActivityKinds
    # What wakes a fiber without any IO: from fibers and from threads.
    module LocksAndQueues
      ELEMENTS = 20
      THREADS_LOCK = RUBY_VERSION >= "3.3" # before, a mutex that fibers and threads share may end the process: Ruby's bug 19480

      def queue
        queue = own_queue(Thread::SizedQueue.new(2))
        beside { put_all(queue) }
        take_all(queue)
      end

      def queue_of_thread
        queue = own_queue(Thread::Queue.new)
        own_thread { |dice| ELEMENTS.times { |number| sleep(short(dice) / 10) && (queue << [@name, number]) } }
        take_all(queue)
      end

      def queue_to_thread
        queue = own_queue(Thread::SizedQueue.new(1))
        thread = own_thread { take_all(queue) }
        put_all(queue)
        thread.value
      end

      def mutex
        contend(Thread::Mutex.new)
      end

      def monitor
        contend(Monitor.new)
      end

      def condition
        mutex = Thread::Mutex.new
        condition = Thread::ConditionVariable.new
        come = false
        later(THREADS_LOCK ? %i[thread fiber].sample(random: @dice) : :fiber) { mutex.synchronize { (come = true) && condition.signal } }
        mutex.lock
        condition.wait(mutex, LONG) until come
      ensure
        mutex.unlock if mutex.owned? # under a scheduler, Ruby does not lock it again when an exception ends the wait
      end

      def join
        check(own_thread { |dice| sleep(short(dice)) && @name }.value == @name, "value")
      end

      # What a thread was to have, the fiber gets.
      def killed_popper
        queue = own_queue(Thread::Queue.new)
        thread = own_thread { queue.pop }
        sleep(short)
        thread.kill
        later(:thread) { queue << @name }
        check((thread.value || queue.pop) == @name, "element")
      end

      def killed_holder
        return nap unless THREADS_LOCK

        mutex = Thread::Mutex.new
        held = own_queue(Thread::Queue.new)
        thread = own_thread { mutex.synchronize { (held << true) && sleep(LONG) } }
        held.pop
        later(:thread) { |dice| chance(2, dice) ? thread.kill : thread.raise(IOError, "on purpose") }
        @robbed = true
        mutex.synchronize { at_home }
      ensure
        thread&.kill
      end

      private

      def take_all(queue)
        ELEMENTS.times { |number| check(queue.pop == [@name, number], "element") }
      end

      def put_all(queue)
        ELEMENTS.times { |number| (queue << [@name, number]) && at_home }
      end

      def contend(lock)
        holders = 0
        hold = proc do |dice|
          lock.synchronize do
            check((holders += 1) == 1, "number of holders")
            sleep(short(dice) / 10)
            at_home
          ensure
            holders -= 1
          end
        end
        3.times { beside { |dice| 2.times { hold.call(dice) } } }
        own_thread(&hold) if THREADS_LOCK
        hold.call(@dice)
      end
    end
  end
end
