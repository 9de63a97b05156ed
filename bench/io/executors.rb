# frozen_string_literal: true

module Bench
  module Io
    # What runs a workload's activities side by side: the fibers of one scheduler, or threads.
    module Executors
      # @param class_name [String] of a Fiber::Scheduler, or "Thread"
      # @param backend [String, nil] for a scheduler that lets its user choose
      def self.of(class_name, backend = nil)
        return Threads if class_name == "Thread"

        scheduler = Object.const_get(class_name)
        Fibers.new { backend ? scheduler.new(backend: backend) : scheduler.new }
      end

      # Fibers of a new scheduler for each run, on a thread of its own: libev_scheduler cannot make a second one on the main thread.
      class Fibers
        def initialize(&make_scheduler)
          @make_scheduler = make_scheduler
        end

        # The thread ends when all that was spawned has.
        def run
          Thread.new do
            Fiber.set_scheduler(@make_scheduler.call)
            yield
          end.join
        end

        def spawn(&block)
          Fiber.schedule(&block)
        end
      end

      # The group's list has those alive only, also of threads that a thread spawned.
      module Threads
        GROUP = ThreadGroup.new

        def self.run
          yield
          GROUP.list.each(&:join) until GROUP.list.empty?
        end

        def self.spawn(&block)
          GROUP.add(Thread.new(&block))
        end
      end
    end
  end
end
