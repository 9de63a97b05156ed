# backtick_javascript: true
# frozen_string_literal: true

require "upwell/program/draining"
require "upwell/program/sequential_listen"
require "upwell/program/signals"
require "upwell/program/runtime_description"
require "upwell/program/uncaught_errors"
require "upwell/server"
require "upwell/server/control/commands"
require "upwell/server/shutdown/termination"

module Upwell
  class Program < Command
    # A server without workers that owns its process. It loads the application and handles signals.
    #
    # SIGTERM and SIGINT drain and exit 0. A later signal exits with status 1 at once. SIGHUP reopens the log file and reloads the
    # certificates.
    class SingleProcess
      # @param part [Part]
      # @param program [Program] ends the process
      def initialize(part, program)
        @part = part
        @configuration = part.configuration
        @program = program
        @commands = Server::Control::Commands.new(self)
      end

      # Starts to serve.
      def run
        addresses = ListenAddress.of(@configuration, shared: false)
        Signals.trap(@commands.handlers(Server::Control::Commands::HARMLESS_SIGNALS))
        @server = Server.new(@part.load_app.call, @configuration)
        UncaughtErrors.watch { |status| end_with(status) }
        listen(addresses)
      end

      # Drains the server.
      #
      # @param cause [String] see {Server::Control::Commands}
      def drain(cause)
        begin_draining("#{cause}: ", "; #{Server::Control::Commands.later("stops the server at once")}", 0)
      end

      # Ends the process.
      #
      # @param cause [String]
      def stop_at_once(cause)
        give_up("#{cause} again: exiting with requests in flight")
      end

      # Reopens the log file and reloads the certificates.
      #
      # @param _cause [String]
      def reopen_logs(_cause)
        @part.log_file.open_again
        @server&.renew
      end

      private

      def listen(addresses)
        probing = SequentialListen.new(addresses, @program.method(:refuse)).each { |address, answer| BindCheck.try(address, &answer) }
        probing.then do |found|
          listening = SequentialListen.new(found, @program.method(:refuse)).each { |address, answer| @server.listen(address, &answer) }
          listening.then { |listened| serve(listened) }
        end
      end

      def serve(addresses)
        Signals.trap(@commands.handlers(Server::Control::Commands::STOP_SIGNALS))
        Log.announce("Upwell #{VERSION} serves on #{addresses.map(&:url).join(", ")} (#{RuntimeDescription.of(@part.runtime)}), no workers")
      end

      def end_with(status)
        return if @commands.note_stop

        begin_draining("an exception without a rescue stops the server: ", "; a signal stops the server at once", status)
      end

      def begin_draining(before, after, status)
        seconds = @configuration.drain_timeout
        Log.tell("#{before}#{Server::Shutdown::Termination.sentence(@server.in_flight, @server.clients.size, seconds)}#{after}")
        Draining.new(@server, seconds).run do |finished|
          finished ? @program.finish(status) : give_up("exiting with requests in flight after #{seconds} s of --drain-timeout")
        end
      end

      def give_up(sentence)
        Log.tell(sentence)
        @program.finish(1)
      end
    end
  end
end
