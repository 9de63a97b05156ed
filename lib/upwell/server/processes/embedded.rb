# frozen_string_literal: true

module Upwell
  class Server
    module Processes
      # A server in the process of another program, such as rackup. It handles signals while it serves; the program has its own log file.
      #
      # SIGTERM and SIGINT drain. A later signal, or the deadline, exits with status 1 at once. SIGTTIN logs the backtraces. Other signals,
      # whose default action would end the process and lose the requests in flight, are ignored.
      class Embedded
        # @param server [Server]
        # @param configuration [Configuration]
        def initialize(server, configuration)
          @server = server
          @configuration = configuration
        end

        # Runs the server until a stop signal.
        #
        # @return [Boolean] whether all requests were finished
        def run
          @termination = Shutdown::Termination.new(@server, @server.listeners, @configuration)
          signals = Control::Signals.new(Control::Commands.new(self).handlers(Control::Commands::SIGNALS.keys)).trap
          Log.announce("Upwell #{VERSION} serves on #{@server.description}")
          @termination.serve
        ensure
          ExitDeadline.clear
          signals&.release
        end

        # Drains the server.
        #
        # @param cause [String] see {Control::Commands}
        def drain(cause)
          @termination.drain(cause)
        end

        # Ends the process.
        #
        # @param cause [String]
        def stop_at_once(cause)
          @termination.stop_at_once(cause)
        end

        # Logs the backtraces of all threads and fibers.
        #
        # @param _cause [String]
        def print_backtraces(_cause)
          Logs::Backtraces.tell
        end
      end
    end
  end
end
