# frozen_string_literal: true

require_relative "library"
require_relative "server"

module Upwell
  # The handler for `rackup -s upwell` and `rails server -u upwell`, known as Rackup::Handler::Upwell or Rack::Handler::Upwell.
  module RackHandler
    # rackup's own names for settings.
    RENAMED = { Host: :bind, Port: :port }.freeze
    # Options that rackup passes to every server. All others come from `-O`.
    RACKUP_OPTIONS = %i[Host Port AccessLog app builder config daemonize debug environment heapfile include pid profile_file profile_mode quiet
                        require server warn].freeze
    # Settings that need the command: a handler serves in one process, and rackup writes its own files.
    COMMAND_ONLY = %i[workers boot_timeout worker_timeout preload environment log_file pid_file user group
                      access_log access_log_except log_format quiet control].freeze
    FOREIGN = "only the command upwell has it, because rackup serves in one process; remove it, or start with upwell"
    NAMES = (SETTINGS.map(&:name) - COMMAND_ONLY).freeze

    # Serves until SIGTERM or SIGINT. An invalid configuration ends the process with an error message.
    #
    # @param app [#call]
    # @param options [Hash] Host, Port, and any setting by its name (`-O mode=threads:5`)
    # @yieldparam server [Server] before it runs
    def run(app, **options)
      configuration = Configuration.new(settings(options))
      Server::Logs::MissingLibraries.tell(configuration)
      Server::System::Warmup.run
      Server::System::TemporaryFolder.check
      server = Server.new(app, configuration)
      yield server if block_given?
      Server::Processes::Embedded.new(server, configuration).run
    rescue ConfigurationError, Error => e
      abort "upwell: #{e.message}"
    end

    # @return [Hash{String => String}] the options for rackup's help
    def valid_options
      SETTINGS.select { |setting| NAMES.include?(setting.name) }.to_h { |setting| ["#{setting.name}=#{setting.argument}", setting.help] }
    end

    private

    # Options that the user sets take precedence over rackup's defaults.
    def settings(options)
      options = options.transform_keys(&:to_sym)
      unknown(options).each { |name| refuse(name) } if options.key?(:config) # the caller is rackup, not Rails or a program
      renamed = RENAMED.to_h { |foreign, name| [name, options[foreign]] }
      renamed.merge(options.slice(*NAMES)).compact
    end

    def unknown(options)
      options.key?(:user_supplied_options) ? [] : options.keys - NAMES - RACKUP_OPTIONS
    end

    def refuse(name)
      reason = COMMAND_ONLY.include?(name) ? FOREIGN : "unknown setting; see rackup -s upwell --help"
      raise ConfigurationError, "option #{name}: #{reason}"
    end
  end
end
