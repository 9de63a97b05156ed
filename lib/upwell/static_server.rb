# frozen_string_literal: true

require_relative "server"
require_relative "static_configuration"

module Upwell
  # Serves the files of a directory in this process, with one loop per thread. No Ruby code runs for a request.
  #
  #     configuration = Upwell::StaticConfiguration.new(port: 8080)
  #     Upwell::StaticServer.new(Upwell::StaticServer::Site.new("public", configuration), configuration).run
  class StaticServer
    # A directory to serve.
    class Site
      # @return [String]
      attr_reader :root

      # @param root [String]
      # @param configuration [StaticConfiguration]
      # @raise [ConfigurationError] when the directory, or the file that `spa` names, does not exist
      def initialize(root, configuration)
        @root = File.expand_path(root)
        raise ConfigurationError, "directory #{@root} does not exist; name the directory to serve" unless File.directory?(@root)

        check_fallback(configuration.spa) if configuration.spa
      end

      # Checks the directory again, because the process may have become another user.
      #
      # @raise [ConfigurationError]
      def check_access
        return if File.executable?(root)

        raise ConfigurationError, "the user of the server cannot enter directory #{root}; " \
                                  "run chmod o+x on it and on those above, or choose another user with --user"
      end

      private

      def check_fallback(name)
        return if File.file?(File.join(root, name))

        raise ConfigurationError, "option spa: file #{name} does not exist in #{root}; name it relative to this directory"
      end
    end

    include Server::Lifecycle

    # @param site [Site]
    # @param configuration [StaticConfiguration]
    # @param listeners [Array<Server::Listening::Listeners::Listener>] open listeners, a set for each thread, one set after another; or nil
    # @raise [ConfigurationError] when an address cannot be listened on
    # @raise [BackendError] when the configured backend does not work here
    def initialize(site, configuration, listeners: nil)
      site.check_access
      @configuration = configuration
      @owner = listeners.nil?
      @listeners = listeners || Server::Listening::Listeners.open_for(configuration)
      @urls = @listeners.map(&:url).uniq
      @reactors = Array.new(configuration.loops) { StaticReactor.new(site.root, configuration.reactor_settings) }
      listen
    end

    # Serves until {#drain} or {#stop}. The calling thread only waits: Ruby 3.1 handles no signals while all threads block in C code.
    #
    # @yield once the server has its threads
    # @return [Boolean] whether all requests were finished
    def run
      threads = @reactors.map { |reactor| Thread.new { run_reactor(reactor) } }
      yield if block_given?
      threads.map(&:value).all?
    ensure
      tell_lost_lines
    end

    # @return [nil] unknown, because no Ruby code runs for a request
    def in_flight
      nil
    end

    # @return [Integer] long-lived clients: none
    def long_lived_clients
      0
    end

    # @return [Array] requests in an application: none
    def requests
      []
    end

    private

    def run_reactor(reactor)
      Thread.current.report_on_exception = false
      reactor.run
    rescue StandardError
      stop # if one thread fails, the others end, too
      raise
    end
  end
end
