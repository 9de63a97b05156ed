# backtick_javascript: true
# frozen_string_literal: true

require "upwell/program/bus"
require "upwell/program/draining"
require "upwell/program/sequential_listen"
require "upwell/program/ipc_channel"
require "upwell/program/signals"
require "upwell/program/port_sharing"
require "upwell/program/uncaught_errors"
require "upwell/server"
require "upwell/server/control/commands"
require "upwell/server/shutdown/termination"

module Upwell
  class Program < Command
    # The code of a worker process: it loads the application, reports that it is ready, and serves until its supervisor stops it or exits.
    class Worker
      VARIABLE = "UPWELL_WORKER" # the worker's number, from 0
      PORT = "UPWELL_WORKER_PORT" # the free port that all workers share

      # @return [Boolean] whether this process was started by a supervisor
      def self.here?
        ENV.key?(VARIABLE) && `typeof process.send === "function"`
      end

      # @param part [Part]
      # @param program [Program] ends the process
      def initialize(part, program)
        @part = part
        @configuration = part.configuration
        @program = program
        @pipe = IPCChannel.new(`process`)
        @index = ENV.delete(VARIABLE)
        @port = ENV.delete(PORT).to_i
      end

      # Starts to serve.
      def run
        @part.log_file.open
        trap_signals
        @server = Server.new(@part.load_app.call, @configuration)
        UncaughtErrors.watch { |status| drain(status) }
        Bus.new(@server.clients.channels, @pipe).begin
        listening = SequentialListen.new(addresses, method(:refuse)).each { |address, answer| @server.listen(address, &answer) }
        listening.then { |found| say_ready(found) }
      rescue ConfigurationError => e
        refuse(e.message)
      end

      # Reopens the log file and reloads the certificates.
      #
      # @param _cause [String] see {Server::Control::Commands}
      def reopen_logs(_cause = nil)
        @part.log_file.open_again
        @server&.renew
      end

      private

      # A terminal sends SIGINT to the whole process group; the supervisor decides.
      def trap_signals
        Signals.trap(Server::Control::Commands.new(self).handlers(Server::Control::Commands::HARMLESS_SIGNALS))
        Signals.trap("TERM" => ->(_) { ask_to_leave }, "INT" => ->(_) {})
        `process.on("message", ({ drain, renew }) => { if (drain !== undefined) #{drain(0, `drain`)}; else if (renew) #{reopen_logs}; })`
        `process.on("disconnect", () => #{drain})`
        stay_without_supervisor
      end

      # A worker of Node's cluster would exit immediately, even with requests in flight.
      def stay_without_supervisor
        return unless PortSharing.by_cluster?(@part.runtime)

        `require("cluster").worker.exitedAfterDisconnect = true`
      end

      def addresses
        all = ListenAddress.of(@configuration, shared: PortSharing.by_kernel?(@part.runtime))
        all.each { |address| address.port = @port if address.port&.zero? }
      end

      def say_ready(found)
        urls = found.map(&:url)
        @pipe.tell(`{ ready: true, urls: urls }`)
      end

      # The supervisor decides: it also gets a signal to the process group, and first closes the listening sockets.
      def ask_to_leave
        return drain unless @server && `process.connected`

        @pipe.tell(`{ leaving: true }`)
      end

      # A worker that still boots has no requests in flight.
      def drain(status = 0, seconds = @configuration.drain_timeout)
        return @program.finish(status) unless @server
        return if @draining

        @draining = true
        count = @server.in_flight
        clients = @server.clients.size
        Log.tell("worker #{@index}: #{Server::Shutdown::Termination.sentence(count, clients, seconds)}") if (count + clients).positive?
        Draining.new(@server, seconds).run { |finished| leave(finished ? status : 1) }
      end

      # An empty message comes last, so that all published messages are sent before.
      def leave(status)
        @pipe.tell(`{}`) { @program.finish(status) }
      end

      def refuse(sentence)
        Log.tell(sentence)
        @program.finish(1)
      end
    end
  end
end
