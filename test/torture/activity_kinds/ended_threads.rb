# frozen_string_literal: true

module Torture
  module ActivityKinds
    # Threads with a scheduler of their own: one that Thread#raise or #kill ends early has all its fibers end; one that stays is a neighbour.
    module EndedThreads
      # What is raised into a thread.
      Doom = Class.new(StandardError)
      FIBERS_MAX = 10

      def thread_raised
        doom { |thread| thread.raise(Doom) }
      end

      def thread_killed
        doom(&:kill)
      end

      # Fibers of two schedulers, each of which has what the other waits for.
      def neighbours
        mine, theirs = own(*UNIXSocket.pair)
        mark = new_mark
        size = some_size
        asked = own_queue(Thread::Queue.new)
        answered = own_queue(Thread::Queue.new)
        thread = with_scheduler do
          Fiber.schedule { echo(theirs) }
          Fiber.schedule { answered << asked.pop }
        end
        beside { |dice| write_marked(mine, mark, size, dice) && mine.close_write }
        asked << @name
        check(read_marked(mine, mark, size) == size, "length")
        check(answered.pop == @name, "answer")
        thread.join
      end

      # A fiber of another scheduler closes what a fiber of this one reads.
      def closed_by_neighbour
        reader, writer = own(*IO.pipe)
        thread = with_scheduler { |dice| Fiber.schedule { sleep(short(dice)) && reader.close } }
        reader.read
        check(false, "end of a read")
      rescue IOError
        thread.join
        writer.close
      end

      private

      # What comes as the scheduler is closed might come anywhere in it: it waits until that is done.
      def with_scheduler(&block)
        own_thread do |dice|
          Thread.handle_interrupt(Object => :never) do
            Fiber.set_scheduler(Upwell::Scheduler.new(backend: BACKEND))
            Thread.handle_interrupt(Object => :immediate) { block.call(dice) && Fiber.scheduler.run }
          ensure
            Fiber.set_scheduler(nil) # Ruby 3.1 leaves that of a thread that is killed open
          end
        end
      end

      def doom
        begun = 0
        ended = 0
        thread = with_scheduler do |dice|
          Thread.current.report_on_exception = false
          dice.rand(1..FIBERS_MAX).times do
            Fiber.schedule do
              begun += 1
              wait_somehow(dice)
            ensure
              ended += 1 # first: what is raised now is raised here
              at_home
            end
          end
        end
        sleep(short)
        yield thread
        await_doom(thread)
        check(begun == ended, "number of ends: #{ended} of #{begun}")
      end

      def await_doom(thread)
        thread.join
      rescue Doom
        nil
      end

      # Never for long: a doom that meets a fiber ends that one only.
      def wait_somehow(dice)
        case dice.rand(4)
        when 0 then sleep(short(dice))
        when 1 then with_ios(UNIXSocket.method(:pair)) { |one, _other| one.wait_readable(short(dice)) }
        when 2 then Timeout.timeout(short(dice)) { Thread::Queue.new.pop }
        else with_ios(IO.method(:pipe)) { |reader, _writer| Timeout.timeout(short(dice)) { reader.read } }
        end
      rescue Timeout::Error
        nil
      end

      # A doom that comes as an IO is made or closed makes Ruby 3.1 close its descriptor twice, or lose it, without a scheduler, too.
      def with_ios(open)
        Thread.handle_interrupt(Object => :never) do
          ios = open.call
          Thread.handle_interrupt(Object => :immediate) { yield(*ios) }
        ensure
          ios&.each(&:close)
        end
      end
    end
  end
end
