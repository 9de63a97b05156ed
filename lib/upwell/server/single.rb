# frozen_string_literal: true

module Upwell
  class Server
    # A server that owns its process: loads the application, obeys signals, no workers.
    #
    # SIGTERM and SIGINT drain and exit 0; a second one ends at once with status 1. SIGHUP opens the log file again, and reads
    # the certificates again; SIGTTIN tells where the threads are.
    class Single
      # @param configuration [Configuration]
      # @param log_file [LogFile]
      # @param server [Class] what serves the application
      # @yieldreturn [#call] the application
      def initialize(configuration, log_file, server: Server, &load_app)
        @configuration = configuration
        @log_file = log_file
        @server_class = server
        @load_app = load_app
      end

      # @yield before it ends at once, when what called this is not gone back to
      # @return [Integer] the exit status
      def run(&at_once)
        process = Process.pid
        Title.set("server")
        listeners = Listeners.open_for(@configuration)
        signals = Signals.new(harmless_signals(listeners)).trap # loading the application may take its time
        trap("TTOU", "IGNORE") # would stop the process
        make_server(listeners)
        signals.add(Termination.new(@server, listeners, @configuration.drain_timeout, quiet: @configuration.quiet, &at_once).handlers)
        Log.announce("Upwell #{VERSION} serves on #{@server.description}, no workers") unless @configuration.quiet
        finished = @server.run
        Log.tell "ended with requests in flight" unless finished
        finished ? 0 : 1
      ensure
        Listeners.remove(listeners || []) if Process.pid == process # what the application forks may end by here, too
      end

      private

      def harmless_signals(listeners)
        {
          **Signals::QUESTIONS,
          "HUP" => ->(_) { read_again(listeners) },
          "USR1" => ->(_) { Log.tell("SIGUSR1: a phased restart needs workers (-w N)") }
        }
      end

      def make_server(listeners)
        @server = @server_class.new(@load_app.call, @configuration, listeners: listeners)
        @server.renew # a SIGHUP may have come meanwhile
      end

      def read_again(listeners)
        @log_file.open_again
        Listeners.renew(listeners)
        @server&.renew
      end
    end
  end
end
