# frozen_string_literal: true

# All of it now: later there may be no descriptor left for a file, or another root directory.
require_relative "clock"
require_relative "configuration"
require_relative "error_log"
require_relative "event_stream"
require_relative "tls"
require_relative "server/bus_directory"
require_relative "server/channels"
require_relative "server/database_pools"
require_relative "server/fiber_i18n"
require_relative "server/fiber_isolation"
require_relative "server/fiber_mongoid"
require_relative "server/fiber_names"
require_relative "server/fiber_sentry"
require_relative "server/fiber_sequel"
require_relative "server/file_size"
require_relative "server/listeners"
require_relative "server/log_file"
require_relative "server/lost_executions"
require_relative "server/messages"
require_relative "server/pid_file"
require_relative "server/serving"
require_relative "server/backtraces"
require_relative "server/title"
require_relative "server/warmup"
require_relative "server/heartbeat"
require_relative "server/signals"
require_relative "server/place"
require_relative "server/termination"
require_relative "server/single"
require_relative "server/watchdog"
require_relative "server/threads_watchdog"
require_relative "server/cluster"

# Applications count on a server to have it. Loaded when it is named, for Bundler may want another version than Ruby's own.
autoload :StringIO, "stringio"

module Upwell
  # Serves a Rack application in this process, on one loop.
  #
  #     Upwell::Server.new(app, Upwell::Configuration.new({ port: 8080 })).run
  class Server
    include Serving

    # @return [Array<Listeners::Listener>]
    attr_reader :listeners
    # @return [Reactor]
    attr_reader :reactor

    # @param app [#call]
    # @param configuration [Configuration]
    # @param listeners [Array<Listeners::Listener>] opened already, or nil
    # @raise [ConfigurationError] when an address cannot be listened on, or the application cannot be served in this mode, or the gem
    #   redis-client is missing
    # @raise [BackendError] when the backend asked for does not work here
    def initialize(app, configuration, listeners: nil)
      @configuration = configuration
      @messages = Messages.new(configuration.pubsub)
      settings = reactor_settings
      app = LostExecutions.end_those_of(app) if settings.fetch(:mode) == :fibers
      @reactor = Reactor.new(app, settings)
      @reactors = [@reactor]
      @channels = Channels.new(@reactor)
      @owner = listeners.nil?
      @listeners = listeners || Listeners.new(configuration).open
      @urls = @listeners.map(&:url)
      listen
    end

    # Serves until {#drain} or {#stop}.
    #
    # @yield once it has the threads that it takes
    # @return [Boolean] whether everything in flight was finished
    def run(&ready)
      FileSize.survive
      @channels.begin
      @messages.begin
      @configuration.threads.zero? ? run_on_this_thread(&ready) : run_on_threads(&ready)
    ensure
      @messages.end
      @channels.end
    end

    # See {Serving#drain}.
    def drain(seconds = @configuration.drain_timeout, refuses: @owner)
      @deadline = Clock.now + seconds
      super
    end

    # @return [Integer] requests of which a part was received, and whose responses have not been sent to the end
    def in_flight
      @reactor.stats.fetch(:requests_in_memory)
    end

    # @return [Array<Array(Hash, Thread, Float, Boolean)>] those that the application has now, see {Reactor#requests}
    def requests
      @reactor.requests
    end

    private

    # The application was loaded: what it uses decides how many fibers may serve it, unless the mode says so itself.
    def reactor_settings
      settings = @configuration.reactor_settings.merge(bus: bus_folder)
      return settings unless settings.fetch(:mode) == :fibers

      FiberI18n.establish
      FiberNames.establish
      FiberSentry.establish
      FiberSequel.establish
      isolated = FiberIsolation.establish
      FiberMongoid.check
      limit = DatabasePools.size unless @configuration.fibers
      Log.tell(fibers_note(isolated, limit)) if isolated || limit
      limit ? settings.merge(fibers_max: limit) : settings
    end

    # Without the command line nobody has made one.
    def bus_folder
      BusDirectory.still_there(@configuration.bus || BusDirectory.named(@configuration))
    end

    def fibers_note(isolated, limit)
      level = "Rails' isolation level is :fiber now, as mode fibers needs" if isolated
      pool = "at most #{limit} requests at once, as many as the database pool has connections; mode fibers:N for another number" if limit
      [level, pool].compact.join("; ")
    end

    def run_on_this_thread
      watchdog = Watchdog.new(@reactor, Thread.current, @configuration.stuck_timeout)
      watcher = Thread.new { watchdog.run }.tap { |thread| thread.name = "upwell watchdog" }
      yield if block_given?
      @reactor.run
    ensure
      watcher&.kill
    end

    def run_on_threads
      threads = Array.new(@configuration.threads) { |index| start_thread(index) { |thread| threads[index] = thread } }
      watchdog = ThreadsWatchdog.new(@reactor, threads.size, @configuration.stuck_timeout)
      watcher = Thread.new { watchdog.run }.tap { |thread| thread.name = "upwell watchdog" }
      yield if block_given?
      finished = @reactor.run
      @ended = true
      finished ? join(threads) : threads.each(&:kill)
      finished
    ensure
      @ended = true
      watcher&.kill
    end

    # One that has answered may have a connection of its own, or callbacks to run: until the deadline.
    def join(threads)
      threads.each { |thread| thread.join([(@deadline || 0) - Clock.now, 0].max) || thread.kill }
    end

    # An application that ends a thread, by Thread.exit or an Interrupt, gets another in its place.
    def start_thread(index, &replaced)
      Thread.new do
        Thread.current.report_on_exception = false
        @reactor.work
        ended = true
      ensure
        replaced.call(start_thread(index, &replaced)) unless ended || @ended
      end
    end
  end
end
