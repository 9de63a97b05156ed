# backtick_javascript: true
# frozen_string_literal: true

require "upwell/timer_milliseconds"
require "upwell/program/cached_program_touch"
require "upwell/program/node_cluster_listen_sockets"
require "upwell/program/sequential_listen"
require "upwell/program/port_sharing"
require "upwell/program/signals"
require "upwell/program/worker_slot"
require "upwell/program/runtime_description"
require "upwell/server/control/commands"
require "upwell/server/shutdown/termination"

module Upwell
  class Program < Command
    # A supervisor with worker processes, each of which runs the same program.
    #
    # SIGTERM and SIGINT drain all workers and exit 0 (1 when requests were cancelled). A later signal kills the workers and exits 1. SIGHUP
    # reopens the log file and reloads the certificates, here and in the workers. A worker that dies is replaced.
    class Cluster
      MARGIN = 1 # seconds after the worker's own deadline

      # @param part [Part]
      # @param program [Program] ends the process
      def initialize(part, program)
        @part = part
        @configuration = part.configuration
        @program = program
        @commands = Server::Control::Commands.new(self)
        @slots = Array.new(@configuration.workers) { |index| WorkerSlot.new(index, part.runtime, self) }
      end

      # Starts to serve.
      def run
        addresses = ListenAddress.of(@configuration, shared: PortSharing.by_kernel?(@part.runtime))
        refuse_shared_path(addresses)
        Signals.trap(@commands.handlers(Server::Control::Commands::HARMLESS_SIGNALS))
        free = addresses.find { |address| address.shared && address.port&.zero? }
        probing = SequentialListen.new(addresses, @program.method(:refuse)).each { |address, answer| BindCheck.try(address, &answer) }
        probing.then { start(free&.port) }
      end

      # @return [Integer, nil] the free port that all workers share, each with its own socket
      attr_reader :port

      # Records that a worker serves.
      #
      # @param urls [Array<String>]
      def ready(urls)
        return if @announced || @terminating || !@slots.all?(&:ready?)

        @announced = true
        Log.announce("Upwell #{VERSION} serves on #{urls.join(", ")} (#{RuntimeDescription.of(@part.runtime)}), #{@slots.size} workers")
      end

      # Records that a worker failed before it served. The first failure ends all workers.
      #
      # @param slot [WorkerSlot]
      def failed(slot)
        give_up("worker #{slot.index} could not start; see its message above")
      end

      # Records that a worker has exited while the cluster ends.
      def ended
        @program.finish(@slots.all?(&:finished?) ? 0 : 1) if @slots.all?(&:ended?)
      end

      # Forwards a message to the other workers.
      #
      # @param from [WorkerSlot] the slot of the publishing worker
      # @param message [JavaScript Object]
      def pass_on(from, message)
        @slots.each { |slot| slot.tell(message) unless slot.equal?(from) }
      end

      # @return [Boolean]
      def terminating?
        @terminating || false
      end

      # @return [Numeric] seconds
      def drain_timeout
        @configuration.drain_timeout
      end

      # Drains all workers.
      #
      # @param cause [String] see {Server::Control::Commands}
      def drain(cause)
        @terminating = true
        begun = Time.now.to_f
        seconds = @configuration.drain_timeout
        waits = Server::Shutdown::Termination.sentence(nil, 0, seconds)
        Log.tell("#{cause}: stopping the workers, #{waits}; #{Server::Control::Commands.later("kills them")}")
        `setTimeout(() => #{kill}, #{TimerMilliseconds.of(seconds + MARGIN)})`
        @listen_handles.close { drain_workers([seconds - (Time.now.to_f - begun), 0].max) }
      end

      # Kills the workers and ends the process.
      #
      # @param cause [String]
      def stop_at_once(cause)
        give_up("#{cause} again: exiting with requests in flight")
      end

      # Reopens the log file and reloads the certificates, here and in the workers.
      #
      # @param _cause [String]
      def reopen_logs(_cause)
        @part.log_file.open_again
        @slots.each(&:renew)
      end

      private

      # Each worker would need its own socket at the path.
      def refuse_shared_path(addresses)
        path = addresses.find(&:path)
        return unless path&.shared

        raise ConfigurationError, "only one process can listen on #{path.url} with this runtime; remove -w, or use up_node_cluster"
      end

      def start(port)
        @port = port
        @listen_handles = NodeClusterListenSockets.new(@configuration.drain_timeout)
        CachedProgramTouch.hold
        Signals.trap(@commands.handlers(Server::Control::Commands::STOP_SIGNALS))
        @slots.each(&:start)
      end

      def drain_workers(seconds)
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
    end
  end
end
