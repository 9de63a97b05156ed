# frozen_string_literal: true

require_relative "server"
require_relative "static_configuration"

module Upwell
  # Serves the files beneath a folder in this process, on one loop a thread. Ruby has no part in a request.
  #
  #     configuration = Upwell::StaticConfiguration.new(port: 8080)
  #     Upwell::StaticServer.new(Upwell::StaticServer::Site.new("public", configuration), configuration).run
  class StaticServer
    # A folder to be served.
    class Site
      # @return [String]
      attr_reader :root
      # @return [IO, nil] where a line for each response is written
      attr_accessor :access_log

      # @param root [String]
      # @param configuration [StaticConfiguration]
      # @raise [ConfigurationError] when there is no such folder, or not the file that `spa` names
      def initialize(root, configuration)
        @root = File.expand_path(root)
        raise ConfigurationError, "there is no folder #{@root}; name the one to serve" unless File.directory?(@root)

        check_fallback(configuration.spa) if configuration.spa
      end

      private

      def check_fallback(name)
        return if File.file?(File.join(root, name))

        raise ConfigurationError, "option spa: there is no file #{name} in #{root}; name it relative to that folder"
      end
    end

    include Server::Serving

    # @param site [Site]
    # @param configuration [StaticConfiguration]
    # @param listeners [Array<Server::Listeners::Listener>] opened already: a set for each thread, one after another; or nil
    # @raise [ConfigurationError] when an address cannot be listened on
    # @raise [BackendError] when the backend asked for does not work here
    def initialize(site, configuration, listeners: nil)
      @configuration = configuration
      @owner = listeners.nil?
      @listeners = listeners || Server::Listeners.open_for(configuration)
      @urls = @listeners.map(&:url).uniq
      settings = configuration.reactor_settings.merge(access_log: site.access_log)
      @reactors = Array.new(configuration.loops) { StaticReactor.new(site.root, settings) }
      listen
    end

    # Serves until {#drain} or {#stop}. The calling thread only waits: Ruby 3.1 sees no signals while each of several threads is in the kernel
    # out of its sight.
    #
    # @yield once it has the threads that it takes
    # @return [Boolean] whether everything in flight was finished
    def run
      threads = @reactors.map { |reactor| Thread.new { run_reactor(reactor) } }
      yield if block_given?
      threads.map(&:value).all?
    ensure
      tell_lost_lines
    end

    # @return [nil] not known: Ruby has no part in a request
    def in_flight
      nil
    end

    # @return [Array] those that an application has: none
    def requests
      []
    end

    private

    def run_reactor(reactor)
      Thread.current.report_on_exception = false
      reactor.run
    rescue StandardError
      stop # one that failed does not leave the others behind
      raise
    end

    def tell_lost_lines
      lost = @reactors.sum(&:log_lines_lost)
      Log.tell "#{lost} lines of the access log are lost: it could not be written in time" if lost.positive?
    end
  end
end
