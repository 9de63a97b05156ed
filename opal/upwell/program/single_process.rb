# backtick_javascript: true
# frozen_string_literal: true

require "upwell/program/draining"
require "upwell/program/sequential_listen"
require "upwell/program/signals"
require "upwell/program/runtime_description"
require "upwell/program/uncaught_errors"
require "upwell/server"
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
      end

      # Starts to serve.
      def run
        addresses = ListenAddress.of(@configuration, shared: false)
        Signals.ignore_others
        Signals.trap("HUP" => ->(_) { read_again })
        @server = Server.new(@part.load_app.call, @configuration)
        UncaughtErrors.watch { |status| end_with(status) }
        listen(addresses)
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
        Signals.trap("TERM" => method(:terminate), "INT" => method(:terminate))
        Log.announce("Upwell #{VERSION} serves on #{addresses.map(&:url).join(", ")} (#{RuntimeDescription.of(@part.runtime)}), no workers")
      end

      def terminate(name)
        return drain("SIG#{name}: ", "; #{Server::Shutdown::Termination.later("stops the server at once")}", 0) unless @draining

        give_up("SIG#{name} again: exiting with requests in flight") unless Server::Shutdown::Termination.same_stop?(@draining, Time.now.to_f)
      end

      def end_with(status)
        drain("an exception without a rescue stops the server: ", "; a signal stops the server at once", status) unless @draining
      end

      def drain(before, after, status)
        @draining = Time.now.to_f
        seconds = @configuration.drain_timeout
        Log.tell("#{before}#{Server::Shutdown::Termination.sentence(@server.in_flight, @server.clients.size, seconds)}#{after}")
        Draining.new(@server, seconds).run { |finished| finished ? @program.finish(status) : give_up("exiting with requests in flight") }
      end

      def give_up(sentence)
        Log.tell(sentence)
        @program.finish(1)
      end

      def read_again
        @part.log_file.open_again
        @server&.renew
      end
    end
  end
end
