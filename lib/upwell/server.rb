# frozen_string_literal: true

# All files are loaded now: later the process may have no free descriptor, or another root directory.
require_relative "clock"
require_relative "configuration"
require_relative "exception_log"
require_relative "event_stream"
require_relative "tls"
require_relative "server/control"
require_relative "server/hot_restart"
require_relative "server/isolation"
require_relative "server/lifecycle"
require_relative "server/listening"
require_relative "server/logs"
require_relative "server/messaging"
require_relative "server/processes"
require_relative "server/service_manager"
require_relative "server/shutdown"
require_relative "server/system"
require_relative "server/watchdogs"

# Applications rely on the server to load StringIO. It is loaded on first use, since Bundler may select another version than Ruby's.
autoload :StringIO, "stringio"

module Upwell
  # Serves a Rack application in this process, on one loop.
  #
  #     Upwell::Server.new(app, Upwell::Configuration.new({ port: 8080 })).run
  class Server
    include Lifecycle

    # @return [Array<Listening::Listeners::Listener>]
    attr_reader :listeners
    # @return [Reactor]
    attr_reader :reactor

    # @param app [#call]
    # @param configuration [Configuration]
    # @param listeners [Array<Listening::Listeners::Listener>] open listeners, or nil
    # @raise [ConfigurationError] when an address cannot be listened on, the mode does not support the application, or the gem redis-client is
    #   missing
    # @raise [BackendError] when the configured backend does not work here
    def initialize(app, configuration, listeners: nil)
      @configuration = configuration
      @messages = Messaging::Messages.new(configuration.pubsub)
      settings = reactor_settings
      app = Isolation::RailsExecutionCleanup.end_those_of(app) if settings.fetch(:mode) == :fibers
      @reactor = Reactor.new(app, settings)
      @reactors = [@reactor]
      @channels = Messaging::Channels.new(@reactor)
      @owner = listeners.nil?
      @listeners = listeners || Listening::Listeners.new(configuration).open
      @urls = @listeners.map(&:url)
      listen
    end

    # Serves until {#drain} or {#stop}.
    #
    # @yield once the server has its threads
    # @return [Boolean] whether all requests were finished
    def run(&ready)
      System::FileSizeLimit.survive
      @channels.begin
      @messages.begin
      @configuration.threads.zero? ? run_on_this_thread(&ready) : run_on_threads(&ready)
    ensure
      tell_lost_lines
      @messages.end
      @channels.end
    end

    # Drains the server, see {Lifecycle#drain}.
    def drain(seconds = @configuration.drain_timeout, refuses: @owner)
      @deadline = Clock.now + seconds
      super
    end

    # @return [Integer] requests in flight: from the first received byte to the last sent one
    def in_flight
      @reactor.stats.fetch(:requests_in_memory)
    end

    # @return [Integer] long-lived clients: WebSockets and event streams
    def long_lived_clients
      @reactor.stats.fetch(:clients)
    end

    # @param seconds [Numeric]
    # @return [Boolean] whether no request has blocked the loop for this time
    def turning?(seconds)
      (@reactor.busy_seconds || 0) < seconds
    end

    # @return [Array<Array(Hash, Thread, Float, Boolean)>] the requests that the application processes now, see {Reactor#requests}
    def requests
      @reactor.requests
    end

    private

    # The application is loaded: unless the mode sets the number of fibers, the application's database pools limit it.
    def reactor_settings
      settings = @configuration.reactor_settings.merge(bus: bus_folder)
      return settings unless settings.fetch(:mode) == :fibers

      notes = Isolation.establish
      limit = Isolation::DatabasePools.size unless @configuration.fibers
      notes << pool_note(limit) if limit
      Log.tell(notes.join("; ")) if notes.any?
      limit ? settings.merge(fibers_max: limit) : settings
    end

    # Without the command line this server creates the directory.
    def bus_folder
      Messaging::BusDirectory.still_there(@configuration.bus || Messaging::BusDirectory.named(@configuration))
    end

    def pool_note(limit)
      "at most #{limit} requests run at once, because the database pool has this size; --mode fibers:N sets another number"
    end

    def run_on_this_thread
      watchdog = Watchdogs::LoopWatchdog.new(@reactor, Thread.current, @configuration.stuck_timeout)
      watcher = Thread.new { watchdog.run }.tap { |thread| thread.name = "upwell watchdog" }
      Control::DefaultSignals.trap do
        yield if block_given?
        @reactor.run
      end
    ensure
      watcher&.kill
    end

    def run_on_threads
      threads = Array.new(@configuration.threads) { |index| start_thread(index) { |thread| threads[index] = thread } }
      watchdog = Watchdogs::ThreadsWatchdog.new(@reactor, threads.size, @configuration.stuck_timeout)
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

    # A thread without a request may still serve a hijacked connection or run callbacks. It has time until the deadline.
    def join(threads)
      threads.each { |thread| thread.join([(@deadline || 0) - Clock.now, 0].max) || thread.kill }
    end

    # An application may end a thread by Thread.exit or an Interrupt. Another thread replaces it.
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
