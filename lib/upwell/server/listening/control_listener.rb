# frozen_string_literal: true

require "socket"
require_relative "handed_over_listening"
require_relative "unix_listening"

module Upwell
  class Server
    module Listening
      # The control address, which answers GET /metrics. The supervisor has it, or the process without workers. A thread of the core serves it,
      # so it answers whatever the application does.
      class ControlListener
        include HandedOverListening
        include UNIXListening

        # A UNIX socket for its owner alone, unless the address says otherwise.
        class Address < UNIXAddress
          OWNER_ALONE = 0o600

          # @return [Integer] the permissions
          def mode
            super || OWNER_ALONE
          end
        end

        # @return [Listeners::Listener] which a hot restart hands over like those of the application
        attr_reader :listener

        # Opens the socket, and creates the metrics that the workers will share.
        #
        # @param configuration [Configuration, StaticConfiguration]
        # @return [ControlListener, nil] nil without a control address
        # @raise [ConfigurationError] when the address cannot be listened on
        def self.open(configuration)
          address = configuration.control
          address && new(address, configuration)
        end

        # @see .open
        def initialize(address, configuration)
          @handed_over = configuration.handed_over_sockets
          @listener = UNIXAddress.match?(address) ? open_unix(Address.new(address)).first : open_tcp(address)
          configuration.handed_over_sockets = @handed_over # the others are the application's
          @socket = @listener.socket
          @metrics = Metrics.new(configuration.workers, info(configuration))
          configuration.metrics = @metrics
        end

        # Answers from now on. The thread belongs to this process alone. A second call does nothing.
        #
        # @param quiet [Boolean] whether the log does not name the address
        def serve(quiet:)
          return if @process

          @process = Process.pid
          @metrics.serve(@socket)
          Log.announce("Upwell answers GET /metrics on #{@listener.description}") unless quiet
        end

        # @return [Array<IO>] what a worker must close
        def ends
          [@socket]
        end

        # Counts a worker process that has ended or was replaced.
        #
        # @param worker [Integer] its number
        # @param reason [String] died, no_heartbeat, phased_restart or stop_signal
        def count_restart(worker, reason)
          @metrics.count_restart(worker, reason)
        end

        # Notes the states of the workers.
        #
        # @param workers [Array<Processes::Worker>]
        # @param now [Float]
        def note_states(workers, now)
          counts = workers.map { |worker| worker.state(now) }.tally
          Processes::Worker::STATES.each { |state| @metrics.set_workers(state, counts.fetch(state, 0)) }
        end

        # Ends the thread. A hot restart has handed the socket over.
        def stop
          @metrics.stop
        end

        # Refuses clients, also where a child process of the application keeps the socket open, and removes the file of a UNIX socket.
        def remove
          @listener.refuse
          @listener.remove
        end

        # Ends the thread and removes the socket. Does nothing in a forked process.
        def close
          return if @process && Process.pid != @process

          stop
          remove
          @socket.close unless @socket.closed?
        end

        private

        def open_tcp(address)
          host, _, port = address.rpartition(":")
          host = host == BindAddress::LOCALHOST_NAME ? BindAddress::LOCALHOST.first : host.delete("[]")
          wanted = Addrinfo.tcp(host, port)
          handed_over = claim { |socket| socket.address?(wanted) }.first
          socket = handed_over&.socket || TCPServer.new(host, port.to_i)
          Listeners::Listener.new(socket, "http://#{address.delete_suffix(port)}#{port_of(socket)}").tap { |listener| listener.lent = !handed_over.nil? }
        rescue SystemCallError => e
          raise ConfigurationError, "cannot listen on #{address}: #{reason(e, port)} #{remedy}"
        end

        def reason(error, port)
          error.is_a?(Errno::EADDRINUSE) ? "the port #{port} is taken; stop the other server, or" : "#{ErrnoText.of(error)};"
        end

        def port_of(socket)
          socket.local_address.ip_port
        end

        def remedy
          "choose another address with --control"
        end

        # A service manager passes no control socket.
        def inherited_unix(_path)
          []
        end

        def info(configuration)
          { "version" => VERSION, "mode" => configuration.mode, "backend" => backend(configuration), "ruby" => RUBY_VERSION }
        end

        def backend(configuration)
          configuration.backend || Upwell.backends.find { |backend| backend[:works] }.fetch(:name)
        end
      end
    end
  end
end
