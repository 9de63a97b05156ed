# frozen_string_literal: true

module Upwell
  module Pure
    class Loop
      # Takes events from the queue. An exception from another thread neither loses an event nor delivers it twice.
      module EventTaking
        private

        # Takes the next event; nil when it was withdrawn meanwhile, or when another thread was first.
        def take
          event = done = nil
          Pure.uninterrupted { event = shift }
          taken = delivered(event)
          done = true
          taken
        ensure
          put_back(event) if event && !done # a time-out throws or raises, and a thread may be killed
        end

        def shift
          @delivered += 1
          @events.shift(true)
        rescue ThreadError
          nil # the queue is empty
        end

        def delivered(event)
          event if event.nil? || event.is_a?(Emitted) || @lock.synchronize { deliver(event) }
        end

        # Returns an event to the end of the queue. A watch that continues already is set to fire again.
        def put_back(event)
          if event.is_a?(Emitted)
            @events << event
          elsif event.fired
            @events << event
            @lock.synchronize { @watches[event.key] ||= event }
          elsif event.deadline
            event.deadline -= event.interval
          end
          @select.interrupt
        end

        def deliver(watch)
          live = watch.live?
          if live && watch.recurring
            watch.go_on(Pure.now)
            @select.interrupt # another thread may have begun to wait without this watch
          elsif @watches[watch.key].equal?(watch)
            @watches.delete(watch.key)
          end
          live
        end
      end
      private_constant :EventTaking
    end
  end
end
