# frozen_string_literal: true

require "java" if RUBY_ENGINE == "jruby"
require "socket"
require "weakref"

module Upwell
  module Pure
    # Described in scheduler.rb.
    class Scheduler
      # Is prepended to IO: fibers that wait for one that is closed get an IOError, whichever thread closes it.
      module Closing
        ALL = [0, 1, 2].freeze # of what is waited for: to read, to write, urgent data

        MAIN = (Ractor.current if defined?(Ractor)) # schedulers, and what their fibers wait for, are its
        LOCK = (Java::JavaLang::Object.new if RUBY_ENGINE == "jruby") # a Mutex would ask the scheduler, which looks here as it reads
        private_constant :MAIN, :LOCK

        @all = {}.compare_by_identity # as keys
        @closing = {}.compare_by_identity # for whoever is about to close one: the IO

        class << self
          # @param events [Events] to be told as long as anybody refers to them: not every scheduler is closed
          # @return [void]
          def tell(events)
            alone do
              @all.keys.reject(&:weakref_alive?).each { |other| @all.delete(other) }
              @all[WeakRef.new(events)] = true
            end
          end

          # Has the block close it when no other thread fills its buffer, which Ruby frees then.
          #
          # @param io [IO]
          # @return [Object] what the block returns
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
          # @return [Boolean] whether its buffer must not be filled
          def closing?(io)
            alone { @closing.value?(io) }
          end

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

          # Several threads use the hashes, and JRuby's run at once. Elsewhere each call is whole, and a trap handler could not lock.
          def alone(&block)
            LOCK ? LOCK.synchronized(&block) : yield
          end

          def each_events
            alone { @all.keys }.each do |events| # others are added meanwhile
              yield events
            rescue WeakRef::RefError
              nil # nobody waits in it
            end
          end
        end

        # @return [nil]
        def close
          Closing.closing(self) { super() }
        ensure
          Closing.closed(self, ALL)
        end

        # Those who wait for it wait for the new file.
        #
        # @return [IO]
        def reopen(*, **)
          super
        ensure
          Closing.reopened
        end
      end

      # Is prepended to IO and BasicSocket. Who reads from a socket that is shut down finds its end, but not on Windows; of who writes nobody
      # would tell.
      module HalfClosing
        # @return [nil]
        def close_read
          Closing.closing(self) { super() }
          Closing.closed(self, [0, 2]) if closed? || !is_a?(BasicSocket) || WINDOWS
          nil
        end

        # @return [nil]
        def close_write
          super
          Closing.closed(self, [1])
          nil
        end
      end
      private_constant :Closing, :HalfClosing

      IO.prepend(Closing, HalfClosing)
      BasicSocket.prepend(HalfClosing)
    end
  end
end
