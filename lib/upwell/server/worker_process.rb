# frozen_string_literal: true

module Upwell
  class Server
    # What a worker process does with its life: loads the application, says that it is ready, serves until told to drain.
    class WorkerProcess
      READY = "ready"

      # @see Worker.fork
      def initialize(index, listeners, configuration, log_file, load_app)
        @index = index
        @listeners = listeners
        @configuration = configuration
        @log_file = log_file
        @load_app = load_app
      end

      # @param ready [IO] told when the worker accepts
      # @param alive [IO] at its end when the supervisor has gone
      # @return [Integer] the exit status
      def run(ready, alive)
        trap_signals
        @configuration.after_fork_hooks.each { |hook| hook.call(@index) }
        @server = Server.new(@load_app.call, @configuration, listeners: @listeners)
        watch(alive)
        ready.puts READY
        @server.run ? 0 : 1
      rescue ConfigurationError, BackendError => e
        warn "upwell: #{e.message}"
        1
      end

      private

      def trap_signals
        trap("CHLD", "DEFAULT")
        trap("USR1", "IGNORE")
        trap("INT", "IGNORE") # a terminal sends it to everybody; the supervisor decides
        trap("HUP") { @log_file.open }
        trap("TERM") { @server ? @server.drain : exit!(0) }
      end

      # A worker does not outlive its supervisor.
      def watch(alive)
        Thread.new do
          alive.read
          @server.drain
        end
      end
    end
  end
end
