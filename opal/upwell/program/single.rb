# backtick_javascript: true
# frozen_string_literal: true

require "upwell/program/draining"
require "upwell/program/listening"
require "upwell/program/signals"
require "upwell/program/title"
require "upwell/program/unrescued"
require "upwell/server"
require "upwell/server/termination"

module Upwell
  class Program < Command
    # A server that owns its process: loads the application, obeys signals, no workers.
    #
    # SIGTERM and SIGINT drain and exit 0; a second one ends at once with status 1. SIGHUP opens the log file and reads the
    # certificates again.
    class Single
      # @param part [Part]
      # @param program [Program] ends the process
      def initialize(part, program)
        @part = part
        @configuration = part.configuration
        @program = program
      end

      # Begins to serve.
      def run
        addresses = Address.of(@configuration, shared: false)
        Signals.ignore_others
        Signals.obey("HUP" => ->(_) { read_again })
        @server = Server.new(@part.load_app.call, @configuration)
        Unrescued.watch { |status| end_with(status) }
        listen(addresses)
      end

      private

      def listen(addresses)
        probing = Listening.new(addresses, @program.method(:refuse)).each { |address, answer| Probe.try(address, &answer) }
        probing.then do |found|
          listening = Listening.new(found, @program.method(:refuse)).each { |address, answer| @server.listen(address, &answer) }
          listening.then { |listened| serve(listened) }
        end
      end

      def serve(addresses)
        Signals.obey("TERM" => method(:terminate), "INT" => method(:terminate))
        Log.announce("Upwell #{VERSION} serves on #{addresses.map(&:url).join(", ")} (#{Title.of(@part.runtime)}), no workers")
      end

      def terminate(name)
        return give_up("SIG#{name} again: ended with requests in flight") if @draining

        drain("SIG#{name}: ", "; a second signal ends it at once", 0)
      end

      def end_with(status)
        drain("what nobody rescues ends the server: ", "; a signal ends it at once", status) unless @draining
      end

      def drain(before, after, status)
        @draining = true
        seconds = @configuration.drain_timeout
        Log.tell("#{before}#{Server::Termination.sentence(@server.in_flight, seconds)}#{after}")
        Draining.new(@server, seconds).run { |finished| finished ? @program.finish(status) : give_up("ended with requests in flight") }
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
