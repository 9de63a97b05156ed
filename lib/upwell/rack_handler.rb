# frozen_string_literal: true

require_relative "library"
require_relative "server"

module Upwell
  # What `rackup -s upwell` and `rails server -u upwell` call, as Rackup::Handler::Upwell or Rack::Handler::Upwell.
  module RackHandler
    # rackup's own names for settings.
    RENAMED = { Host: :bind, Port: :port }.freeze
    # What rackup says to any server; whatever else it passes comes from `-O`.
    RACKUP_OPTIONS = %i[Host Port AccessLog app builder config daemonize debug environment heapfile include pid profile_file profile_mode quiet
                        require server warn].freeze
    # What needs the command: a handler serves in one process, and rackup keeps its own files.
    COMMAND_ONLY = %i[workers boot_timeout worker_timeout preload environment log_file pid_file].freeze
    NAMES = (SETTINGS.map(&:name) - COMMAND_ONLY).freeze

    # Serves until SIGTERM or SIGINT. What cannot be configured ends the process with one sentence.
    #
    # @param app [#call]
    # @param options [Hash] Host, Port, and any setting by its name (`-O mode=threads:5`)
    # @yieldparam server [Server] before it runs
    def run(app, **options)
      configuration = Configuration.new(settings(options))
      Server::Warmup.run
      server = Server.new(app, configuration)
      yield server if block_given?
      serve(server, configuration.drain_timeout)
    rescue ConfigurationError, Error => e
      abort "upwell: #{e.message}"
    end

    # @return [Hash{String => String}] for rackup's help
    def valid_options
      SETTINGS.select { |setting| NAMES.include?(setting.name) }.to_h { |setting| ["#{setting.name}=#{setting.argument}", setting.help] }
    end

    private

    # What was named as such counts, and not what rackup passes in any case.
    def settings(options)
      options = options.transform_keys(&:to_sym)
      unknown(options).each { |name| refuse(name) } if options.key?(:config) # who calls is rackup, and not Rails or a program
      renamed = RENAMED.to_h { |foreign, name| [name, options[foreign]] }
      renamed.merge(options.slice(*NAMES)).compact
    end

    def unknown(options)
      options.key?(:user_supplied_options) ? [] : options.keys - NAMES - RACKUP_OPTIONS
    end

    def refuse(name)
      raise ConfigurationError, "option #{name}: needs the command upwell; a handler serves in one process" if COMMAND_ONLY.include?(name)

      raise ConfigurationError, "option #{name}: there is no such setting; see rackup -s upwell --help"
    end

    def serve(server, drain_timeout)
      termination = Server::Termination.new(server, server.listeners, drain_timeout)
      signals = Server::Signals.new({ **Server::Signals::QUESTIONS, **termination.handlers }).trap
      Log.announce("Upwell #{VERSION} serves on #{server.description}")
      finished = server.run
      Log.tell("ended with requests in flight") unless finished
      finished
    ensure
      signals&.release
    end
  end
end
