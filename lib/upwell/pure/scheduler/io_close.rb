# frozen_string_literal: true

require "java" if RUBY_ENGINE == "jruby"
require "socket"
require "weakref"

module Upwell
  module Pure
    # This part of the scheduler handles closed IOs, see scheduler.rb.
    class Scheduler
      # Prepended to IO. When any thread closes an IO, the fibers that wait for it get an IOError.
      module IOClose
        ALL = [0, 1, 2].freeze # the kinds of waits: to read, to write, urgent data

        MAIN = (Ractor.current if defined?(Ractor)) # the ractor of all schedulers and their IOs
        LOCK = (Java::JavaLang::Object.new if RUBY_ENGINE == "jruby") # a Mutex would call the scheduler, which uses this lock during a read
        private_constant :MAIN, :LOCK

        @all = {}.compare_by_identity # a set: the events are the keys
        @closing = {}.compare_by_identity # the IO that each thread is about to close

        class << self
          # Registers events for closed IOs, by weak references: not every scheduler is closed.
          #
          # @param events [WakeupSources]
          # @return [void]
          def tell(events)
            alone do
              @all.keys.reject(&:weakref_alive?).each { |other| @all.delete(other) }
              @all[WeakRef.new(events)] = true
            end
          end

          # Closes an IO with the block, once no other thread fills its buffer, because Ruby then frees the buffer.
          #
          # @param io [IO]
          # @return [Object] the block's result
          def closing(io)
            return yield unless main?

            closer = Object.new
            alone { @closing[closer] = io }
            each_events { |events| Thread.pass while events.filling?(io) }
            yield
          ensure
            alone { @closing.delete(closer) } if closer
          end

          # @param io [IO]
          # @return [Boolean] whether a thread is closing the IO, so that its buffer must not be filled
          def closing?(io)
            alone { @closing.value?(io) }
          end

          # Ends the waits for a closed IO.
          #
          # @param io [IO]
          # @param kinds [Array<Integer>] of ALL
          # @return [void]
          def closed(io, kinds)
            each_events { |events| events.cut_off(io, kinds) } if main?
          end

          # @return [void]
          def reopened
            each_events(&:look_again) if main?
          end

          private

          def main?
            MAIN.nil? || Ractor.current.equal?(MAIN)
          end

          # Several threads use the hashes, and JRuby runs threads in parallel. In CRuby each call is atomic, and a trap handler could not lock.
          def alone(&block)
            LOCK ? LOCK.synchronized(&block) : yield
          end

          def each_events
            alone { @all.keys }.each do |events| # other threads may add events meanwhile
              yield events
            rescue WeakRef::RefError
              nil # the scheduler no longer exists
            end
          end
        end

        # @return [nil]
        def close
          IOClose.closing(self) { super() }
        ensure
          IOClose.closed(self, ALL)
        end

        # Reopens the IO. Fibers that wait for the IO then wait for the new file.
        #
        # @return [IO]
        def reopen(*, **)
          super
        ensure
          IOClose.reopened
        end
      end

      # Prepended to IO and BasicSocket. After shutdown(2) a reader gets end of file, except on Windows; a waiting writer would not be woken.
      module HalfClosing
        # @return [nil]
        def close_read
          IOClose.closing(self) { super() }
          IOClose.closed(self, [0, 2]) if closed? || !is_a?(BasicSocket) || WINDOWS
          nil
        end

        # @return [nil]
        def close_write
          super
          IOClose.closed(self, [1])
          nil
        end
      end
      private_constant :IOClose, :HalfClosing

      IO.prepend(IOClose, HalfClosing)
      BasicSocket.prepend(HalfClosing)
    end
  end
end
