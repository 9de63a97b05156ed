# backtick_javascript: true
# frozen_string_literal: true

require "upwell/milliseconds"
require "upwell/program/cached_file"
require "upwell/program/doors"
require "upwell/program/listening"
require "upwell/program/sharing"
require "upwell/program/signals"
require "upwell/program/slot"
require "upwell/program/title"
require "upwell/server/termination"

module Upwell
  class Program < Command
    # A supervisor with worker processes, each of which runs the same program.
    #
    # SIGTERM and SIGINT drain all workers and exit 0 (1 when requests had to be given up); a second one kills them and exits 1. SIGHUP opens the
    # log file and reads the certificates again, here and in the workers. A worker that dies is replaced.
    class Cluster
      MARGIN = 1 # seconds that a worker has for its own deadline

      # @param part [Part]
      # @param program [Program] ends the process
      def initialize(part, program)
        @part = part
        @configuration = part.configuration
        @program = program
        @slots = Array.new(@configuration.workers) { |index| Slot.new(index, part.runtime, self) }
      end

      # Begins to serve.
      def run
        addresses = Address.of(@configuration, shared: Sharing.by_kernel?(@part.runtime))
        refuse_shared_path(addresses)
        Signals.ignore_others
        Signals.obey("HUP" => ->(_) { read_again })
        free = addresses.find { |address| address.shared && address.port&.zero? }
        probing = Listening.new(addresses, @program.method(:refuse)).each { |address, answer| Probe.try(address, &answer) }
        probing.then { start(free&.port) }
      end

      # @return [Integer, nil] the free port that was found for workers that share it by themselves
      attr_reader :port

      # A worker serves.
      #
      # @param urls [Array<String>]
      def ready(urls)
        return if @announced || @terminating || !@slots.all?(&:ready?)

        @announced = true
        Log.announce("Upwell #{VERSION} serves on #{urls.join(", ")} (#{Title.of(@part.runtime)}), #{@slots.size} workers")
      end

      # One that never served ends them all.
      #
      # @param slot [Slot]
      def failed(slot)
        give_up("worker #{slot.index} could not start; its message is above")
      end

      # A worker has ended while all do.
      def ended
        @program.finish(@slots.all?(&:finished?) ? 0 : 1) if @slots.all?(&:ended?)
      end

      # @param from [Slot] whose worker has published it
      # @param message [JavaScript Object]
      def pass_on(from, message)
        @slots.each { |slot| slot.tell(message) unless slot.equal?(from) }
      end

      # @return [Boolean]
      def terminating?
        @terminating
      end

      private

      # Each would have to put its own socket there.
      def refuse_shared_path(addresses)
        path = addresses.find(&:path)
        return unless path&.shared

        raise ConfigurationError, "#{path.url} is for one process with this runtime; leave out -w, or use up_node_cluster"
      end

      def start(port)
        @port = port
        @doors = Doors.new(@configuration.drain_timeout)
        CachedFile.hold
        Signals.obey("TERM" => method(:terminate), "INT" => method(:terminate))
        @slots.each(&:start)
      end

      def terminate(name)
        return give_up("SIG#{name} again: ended with requests in flight") if @terminating

        @terminating = true
        seconds = @configuration.drain_timeout
        begun = Time.now
        Log.tell("SIG#{name}: the workers end, #{Server::Termination.sentence(nil, seconds)}; a second signal kills them")
        `setTimeout(() => #{kill}, #{Milliseconds.of(seconds + MARGIN)})`
        @doors.close { drain([seconds - (Time.now - begun), 0].max) }
      end

      def drain(seconds)
        @slots.each { |slot| slot.drain(seconds) }
        ended
      end

      def kill
        @slots.each(&:kill)
        ended
      end

      def give_up(sentence)
        Log.tell(sentence)
        @terminating = true
        @slots.each(&:kill)
        @program.finish(1)
      end

      def read_again
        @part.log_file.open_again
        @slots.each(&:renew)
      end
    end
  end
end
