# backtick_javascript: true
# frozen_string_literal: true

require "upwell/program/bus"
require "upwell/program/draining"
require "upwell/program/listening"
require "upwell/program/pipe"
require "upwell/program/signals"
require "upwell/program/sharing"
require "upwell/program/unrescued"
require "upwell/server"
require "upwell/server/termination"

module Upwell
  class Program < Command
    # What a worker process does with its life: loads the application, says that it is ready, serves until told to drain, or nobody is there
    # any more who could tell.
    class Worker
      VARIABLE = "UPWELL_WORKER" # the worker's number, from 0
      PORT = "UPWELL_WORKER_PORT" # the free one that all of them share

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
        @pipe = Pipe.new(`process`)
        @index = ENV.delete(VARIABLE)
        @port = ENV.delete(PORT).to_i
      end

      # Begins to serve.
      def run
        @part.log_file.open
        obey
        @server = Server.new(@part.load_app.call, @configuration)
        Unrescued.watch { |status| drain(status) }
        Bus.new(@server.clients.channels, @pipe).begin
        listening = Listening.new(addresses, method(:refuse)).each { |address, answer| @server.listen(address, &answer) }
        listening.then { |found| say_ready(found) }
      rescue ConfigurationError => e
        refuse(e.message)
      end

      private

      # A terminal sends SIGINT to everybody; the supervisor decides.
      def obey
        Signals.ignore_others
        Signals.obey("HUP" => ->(_) { read_again }, "TERM" => ->(_) { drain }, "INT" => ->(_) {})
        `process.on("message", ({ drain, renew }) => { if (drain !== undefined) #{drain(0, `drain`)}; else if (renew) #{read_again}; })`
        `process.on("disconnect", () => #{drain})`
        stay_without_supervisor
      end

      # A worker of Node's cluster would end at once, whatever it has in flight.
      def stay_without_supervisor
        return unless Sharing.by_cluster?(@part.runtime)

        `require("cluster").worker.exitedAfterDisconnect = true`
      end

      def addresses
        all = Address.of(@configuration, shared: Sharing.by_kernel?(@part.runtime))
        all.each { |address| address.port = @port if address.port&.zero? }
      end

      def say_ready(found)
        urls = found.map(&:url)
        @pipe.tell(`{ ready: true, urls: urls }`)
      end

      # One that is still booting has nothing in flight.
      def drain(status = 0, seconds = @configuration.drain_timeout)
        return @program.finish(status) unless @server
        return if @draining

        @draining = true
        count = @server.in_flight
        Log.tell("worker #{@index}: #{Server::Termination.sentence(count, seconds)}") if count.positive?
        Draining.new(@server, seconds).run { |finished| leave(finished ? status : 1) }
      end

      # What was published last is on its way before.
      def leave(status)
        @pipe.tell(`{}`) { @program.finish(status) }
      end

      def refuse(sentence)
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
