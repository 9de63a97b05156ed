# frozen_string_literal: true

module Upwell
  class Server
    module Control
      # Handles signals on its own thread: a trap handler interrupts the main thread at any point, and must not wait. A process that the
      # application forks lacks this thread, so there the signal has the effect that it has without a server.
      class Signals
        UNINTERRUPTED = { Object => :never }.freeze
        private_constant :UNINTERRUPTED

        # Installs a trap handler that another thread cannot interrupt. Otherwise an exception of Timeout, for example, ends the handler, and
        # the signal is lost.
        #
        # @param name [String] of a signal
        # @yield when the signal arrives
        # @return [Object] the previous handler, see Signal.trap
        def self.handle(name, &handler)
          Signal.trap(name) { Thread.handle_interrupt(UNINTERRUPTED, &handler) }
        end

        # @param handlers [Hash{String => #call}] by signal name, called with the name and the time of arrival
        def initialize(handlers)
          @handlers = handlers
          @before = {}
          @received = Thread::Queue.new
          @process = Process.pid
        end

        # Starts to handle signals.
        #
        # @return [self]
        def trap
          @thread = Thread.new { loop { handle_signal(*@received.pop) } }.tap { |thread| thread.name = "upwell signals" }
          @handlers.each_key { |name| take(name) }
          self
        end

        # Adds handlers.
        #
        # @param handlers [Hash{String => #call}]
        def add(handlers)
          @handlers = @handlers.merge(handlers)
          handlers.each_key { |name| take(name) }
        end

        # Restores the previous handlers.
        def release
          @before.each { |name, handler| Signal.trap(name, handler) }
          @thread.kill
        end

        private

        def take(name)
          @before[name] = Signals.handle(name) { receive(name) }
        end

        def receive(name)
          return @received << [name, Clock.now] if Process.pid == @process

          Signal.trap(name, "DEFAULT")
          Process.kill(name, Process.pid)
        end

        # An error in one handler does not prevent the next signal's handler.
        def handle_signal(name, at)
          @handlers.fetch(name).call(name, at)
        rescue StandardError => e
          ExceptionLog.signal(e, name)
        end
      end
    end
  end
end
