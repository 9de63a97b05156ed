# backtick_javascript: true
# frozen_string_literal: true

require "upwell/js_error"
require "upwell/program/ipc_channel"
require "upwell/program/worker"

module Upwell
  class Program < Command
    # The slot of one worker. It starts the worker, and a new one when it dies.
    class WorkerSlot
      BACK_OFF_MIN = 0.1 # seconds before a dead worker is restarted; doubled for each early death
      BACK_OFF_MAX = 10
      STEADY = 10 # seconds of life after which a death is not early
      STOP_WAIT_MS = 500 # a terminal signals the whole group: the supervisor's signal may be handled after the death of a worker that boots

      # @return [Integer]
      attr_reader :index

      # @param index [Integer]
      # @param runtime [Symbol]
      # @param cluster [Cluster]
      def initialize(index, runtime, cluster)
        @index = index
        @runtime = runtime
        @cluster = cluster
        @failures = 0
        @finished = true
      end

      # Starts a worker.
      def start
        return if @cluster.terminating?

        @ready = false
        @running = true
        @born = Time.now
        @child = fork_program({ Worker::VARIABLE => @index.to_s, Worker::PORT => @cluster.port.to_s }.to_n)
        attend
      rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own
        miss(e)
      end

      # @return [Boolean]
      def ready?
        @ready
      end

      # @return [Boolean]
      def ended?
        !@running
      end

      # @return [Boolean] whether all requests were finished when draining
      def finished?
        @finished
      end

      # Forwards another worker's message. If this worker does not read, messages beyond the limit are dropped.
      #
      # @param message [JavaScript Object]
      def tell(message)
        @pipe.publish(message) if @running
      end

      # Makes the worker finish its requests and exit.
      #
      # @param seconds [Numeric] the deadline
      def drain(seconds)
        @pipe.tell(`{ drain: seconds }`) if @running
      end

      # Makes the worker reopen its log file and reload its certificates. A signal would end a worker that still boots.
      def renew
        @pipe.tell(`{ renew: true }`) if @running
      end

      # Kills the worker.
      def kill
        `#{@child}.kill("SIGKILL")` if @running
      end

      private

      def attend
        %x{
          #{@child}.on("message", message => {
            if (message && message.ready) #{say_ready(`message.urls`)};
            if (message && message.leaving) #{let_leave};
            if (message && message.published) #{@cluster.pass_on(self, `message`)};
          });
          #{@child}.on("exit", (code, signal) => #{die(`code === null ? nil : code`, `signal || nil`)});
          #{@child}.on("error", error => { if (#{@child}.pid === undefined) #{miss(`error`)}; });
        }
        @pipe = IPCChannel.new(@child)
      end

      # A worker shares the supervisor's standard output and error.
      def fork_program(variables)
        cluster = PortSharing.by_cluster?(@runtime)
        %x{
          if (cluster) return require("cluster").fork(variables).on("error", () => {}).process; // the child process reports the error
          return require("child_process").fork(process.argv[1], process.argv.slice(2), { env: { ...process.env, ...variables } });
        }
      end

      def say_ready(urls)
        @ready = @began = true
        @cluster.ready(urls)
      end

      # Orders the worker to drain, unless all workers are about to get this command.
      def let_leave
        drain(@cluster.drain_timeout) unless @cluster.terminating?
      end

      # Handles a failed start: the system has no process left.
      def miss(error)
        event = "worker #{@index} cannot start: #{JsError.reason(error)}"
        Log.tell("#{event}; raise this limit or free memory, or start fewer workers (-w)") unless @began
        bury("#{event}; retrying")
      end

      def die(code, signal)
        @finished &&= code == 0 || !@ready if @cluster.terminating? # a worker that still boots has no requests in flight
        bury("worker #{@index} (#{`#{@child}.pid`}) died: #{signal || "exit #{code}"}; starting another", %w[SIGINT SIGTERM].include?(signal))
      end

      # @param stopped [Boolean] whether a stop signal ended the worker
      def bury(event, stopped = false)
        return unless @running

        @running = @ready = false
        return @cluster.ended if @cluster.terminating?
        return start_again(event) if @began

        stopped ? `setTimeout(() => #{fail_to_start}, #{STOP_WAIT_MS})` : fail_to_start
      end

      def fail_to_start
        @cluster.failed(self) unless @cluster.terminating?
      end

      def start_again(event)
        @failures = 0 if Time.now - @born > STEADY
        wait = [BACK_OFF_MIN * (2**@failures), BACK_OFF_MAX].min
        @failures += 1
        Log.tell("#{event} in #{wait.round(1)} s")
        milliseconds = wait * 1000
        `setTimeout(() => #{start}, milliseconds)`
      end
    end
  end
end
