# backtick_javascript: true
# frozen_string_literal: true

require "upwell/program/pipe"
require "upwell/program/worker"

module Upwell
  class Program < Command
    # The place of one worker: starts it, and another when it dies.
    class Slot
      BACK_OFF_MIN = 0.1 # seconds before a worker that died is started again; doubled for each early death
      BACK_OFF_MAX = 10
      STEADY = 10 # seconds after which a worker's death is no early one

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
        miss(`e.code || #{e.message}`)
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

      # Passes on what another worker has published. One that stands still misses what is more than may wait for it.
      #
      # @param message [JavaScript Object]
      def tell(message)
        @pipe.publish(message) if @running
      end

      # Has the worker finish its requests and end.
      #
      # @param seconds [Numeric] for which it may
      def drain(seconds)
        @pipe.tell(`{ drain: seconds }`) if @running
      end

      # Has the worker open its log file and read its certificates again. A signal would end one that still boots.
      def renew
        @pipe.tell(`{ renew: true }`) if @running
      end

      # Ends it at once.
      def kill
        `#{@child}.kill("SIGKILL")` if @running
      end

      private

      def attend
        %x{
          #{@child}.on("message", message => {
            if (message && message.ready) #{say_ready(`message.urls`)};
            if (message && message.published) #{@cluster.pass_on(self, `message`)};
          });
          #{@child}.on("exit", (code, signal) => #{die(`code === null ? nil : code`, `signal || nil`)});
          #{@child}.on("error", error => { if (#{@child}.pid === undefined) #{miss(`error.code`)}; });
        }
        @pipe = Pipe.new(@child)
      end

      # A worker has its supervisor's standard output and error.
      def fork_program(variables)
        cluster = Sharing.by_cluster?(@runtime)
        %x{
          if (cluster) return require("cluster").fork(variables).on("error", () => {}).process; // whose error it is
          return require("child_process").fork(process.argv[1], process.argv.slice(2), { env: { ...process.env, ...variables } });
        }
      end

      def say_ready(urls)
        @ready = @began = true
        @cluster.ready(urls)
      end

      # The system has no room for another process.
      def miss(reason)
        event = "worker #{@index} cannot be started: #{reason}"
        Log.tell(event) unless @began
        bury(event)
      end

      def die(code, signal)
        @finished &&= code == 0 || !@ready if @cluster.terminating? # one that boots has nothing in flight, whatever ends it
        bury("worker #{@index} (#{`#{@child}.pid`}) died: #{signal || "exit #{code}"}")
      end

      def bury(event)
        return unless @running

        @running = @ready = false
        return @cluster.ended if @cluster.terminating?

        @began ? start_again(event) : @cluster.failed(self)
      end

      def start_again(event)
        @failures = 0 if Time.now - @born > STEADY
        wait = [BACK_OFF_MIN * (2**@failures), BACK_OFF_MAX].min
        @failures += 1
        Log.tell("#{event}; another is started in #{wait.round(1)} s")
        milliseconds = wait * 1000
        `setTimeout(() => #{start}, milliseconds)`
      end
    end
  end
end
