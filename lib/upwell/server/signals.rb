# frozen_string_literal: true

module Upwell
  class Server
    # Obeys signals on a thread of its own: a trap handler runs in the midst of whatever the main thread does, and must not wait there. A process
    # that the application forks does not have that thread: it gets what it would have got without a server.
    class Signals
      # What an operator may ask any process of a server, beside ending.
      QUESTIONS = {
        "TTIN" => ->(_) { Backtraces.tell },
        "USR2" => ->(_) { Log.tell("SIGUSR2 has no meaning here") }
      }.freeze

      # @param handlers [Hash{String => #call}] by the signal's name, called with it
      def initialize(handlers)
        @handlers = handlers
        @before = {}
        @received = Thread::Queue.new
        @process = Process.pid
      end

      # Begins to obey.
      #
      # @return [self]
      def trap
        @thread = Thread.new { loop { obey(@received.pop) } }.tap { |thread| thread.name = "upwell signals" }
        @handlers.each_key { |name| take(name) }
        self
      end

      # Obeys more of them.
      #
      # @param handlers [Hash{String => #call}]
      def add(handlers)
        @handlers = @handlers.merge(handlers)
        handlers.each_key { |name| take(name) }
      end

      # Leaves the signals to those who had them before.
      def release
        @before.each { |name, handler| Signal.trap(name, handler || "DEFAULT") }
        @thread.kill
      end

      private

      def take(name)
        @before[name] = Signal.trap(name) { receive(name) }
      end

      def receive(name)
        return @received << name if Process.pid == @process

        Signal.trap(name, "DEFAULT")
        Process.kill(name, Process.pid)
      end

      # Whatever goes wrong, the next signal is obeyed.
      def obey(name)
        @handlers.fetch(name).call(name)
      rescue StandardError => e
        ErrorLog.signal(e, name)
      end
    end
  end
end
