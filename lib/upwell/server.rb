# frozen_string_literal: true

require_relative "server/listeners"
require_relative "server/log_file"
require_relative "server/pid_file"
require_relative "server/single"
require_relative "server/watchdog"
require_relative "server/cluster"

module Upwell
  # Serves a Rack application in this process, on one loop.
  #
  #     Upwell::Server.new(app, Upwell::Configuration.new(port: 8080)).run
  class Server
    # @return [Array<String>] where it listens
    attr_reader :urls
    # @return [Reactor]
    attr_reader :reactor

    # @param app [#call]
    # @param configuration [Configuration]
    # @param listeners [Array<Listeners::Listener>] opened already, or nil
    # @raise [ConfigurationError] when an address cannot be listened on
    # @raise [BackendError] when the backend asked for does not work here
    def initialize(app, configuration, listeners: nil)
      @configuration = configuration
      @reactor = Reactor.new(app, configuration.reactor_settings)
      @listeners = listeners || Listeners.new(configuration).open
      @urls = @listeners.map(&:url)
      @listeners.each { |listener| @reactor.listen(listener.socket) }
    end

    # Serves until {#drain} or {#stop}.
    #
    # @return [Boolean] whether everything in flight was finished
    def run
      @configuration.threads.zero? ? run_on_this_thread : run_on_threads
    end

    # Accepts no more, and ends when every request in flight was answered. May be called in a trap handler.
    #
    # @param seconds [Numeric] the deadline
    def drain(seconds = @configuration.drain_timeout)
      @reactor.drain(seconds)
    end

    # Ends at once. May be called in a trap handler.
    def stop
      @reactor.stop
    end

    # @return [String] the backend in use
    def backend
      @reactor.backend
    end

    # @return [String] for the operator: where, with which backend and mode
    def description
      "#{urls.join(", ")} (#{backend}, #{@configuration.description})"
    end

    private

    def run_on_this_thread
      watchdog = Watchdog.new(@reactor, Thread.current, @configuration.stuck_timeout)
      watcher = Thread.new { watchdog.run }
      @reactor.run
    ensure
      watcher&.kill
    end

    def run_on_threads
      threads = Array.new(@configuration.threads) { Thread.new { work } }
      finished = @reactor.run
      finished ? threads.each(&:join) : threads.each(&:kill)
      finished
    end

    def work
      Thread.current.report_on_exception = false
      @reactor.work
    end
  end
end
