# frozen_string_literal: true

module Upwell
  class Server
    # What a worker process does with its life: loads the application, says that it is ready, serves until told to drain.
    class WorkerProcess
      # @see Worker.fork
      def initialize(slot, configuration, log_file, server_class, load_app)
        @slot = slot
        @configuration = configuration
        @log_file = log_file
        @server_class = server_class
        @load_app = load_app
      end

      # @param voice [UNIXSocket] told the backend once the worker accepts, and from then on that it lives
      # @param alive [IO] see {Worker.fork}
      # @return [Integer] the exit status
      def run(voice, alive)
        boot(alive)
        @server.run { Heartbeat.give(voice, Heartbeat.interval(@configuration.worker_timeout)) { say_ready(voice) } } ? 0 : 1
      rescue ConfigurationError, BackendError => e
        Log.tell e.message
        Reason.lack?(e.cause) ? Worker::LATER_STATUS : 1
      rescue *Reason::LACKS => e
        ErrorLog.report(e, nil)
        Worker::LATER_STATUS
      end

      private

      def boot(alive)
        Title.set("worker #{@slot.index}")
        trap_signals
        read_again # a SIGHUP may have come since the fork
        watch(alive)
        @server = @server_class.new(load_app, @configuration, listeners: @slot.listeners)
        @server.renew # or meanwhile
      end

      # A child that goes on here, after Process.daemon for example, would serve for ever: nobody supervises it.
      def load_app
        process = Process.pid
        @configuration.after_fork_hooks.each { |hook| hook.call(@slot.index) }
        app = @load_app.call
        return app if Process.pid == process

        raise ConfigurationError, "worker #{@slot.index} forked while it started, and its child does not serve: " \
                                  "after_fork and the application must neither call Process.daemon nor fork without a block"
      end

      # It may have been told to end meanwhile.
      def say_ready(voice)
        Heartbeat.tell(voice, "#{@server.backend}\n")
        @voice = voice
        Heartbeat.tell(voice, Heartbeat::LEAVING) if @draining
      end

      def trap_signals
        trap("CHLD", "DEFAULT")
        trap("USR1", "IGNORE")
        trap("INT", "IGNORE") # a terminal sends it to everybody; the supervisor decides
        Signals.new({ **Signals::QUESTIONS, "HUP" => ->(_) { read_again }, "TERM" => ->(_) { retire } }).trap
      end

      def read_again
        @log_file.open_again
        Listeners.renew(@slot.listeners)
        @server&.renew
      end

      def watch(alive)
        Thread.new do
          Thread.current.name = "upwell watch"
          retire if alive.getc
          alive.read
          end_serving
        end
      end

      # Others go on with its sockets.
      def retire
        drain(refuses: false) unless @draining
      end

      # Nobody does. Without a supervisor nobody kills it either, when it is late.
      def end_serving
        Listeners.remove(@slot.listeners)
        drain(refuses: true)
        sleep(@configuration.drain_timeout + Worker::DRAIN_MARGIN)
        exit!(1)
      end

      # One that is still booting has nothing in flight.
      def drain(refuses:)
        return exit!(0) unless @server

        begin_draining unless @draining
      ensure
        @server&.drain(refuses: refuses)
      end

      def begin_draining
        @draining = true
        Heartbeat.tell(@voice, Heartbeat::LEAVING) if @voice
        Title.set("worker #{@slot.index}, draining")
        tell_what_is_in_flight
      end

      def tell_what_is_in_flight
        count = @server.in_flight
        return unless count&.positive?

        Log.tell("worker #{@slot.index}: #{Termination.sentence(count, @configuration.drain_timeout)}#{Termination.list(@server)}")
      end
    end
  end
end
