# frozen_string_literal: true

require_relative "library"

module Upwell
  # What `rackup -s upwell` and `rails server -u upwell` call.
  module RackHandler
    # rackup's own names for settings.
    RENAMED = { Host: :bind, Port: :port }.freeze
    # What needs the command: a handler serves in one process, and rackup keeps its own files.
    COMMAND_ONLY = %i[workers preload environment log_file pid_file].freeze
    NAMES = (SETTINGS.map(&:name) - COMMAND_ONLY).freeze

    # @param app [#call]
    # @param options [Hash] Host, Port, and any setting by its name (`-O mode=threads:5`)
    # @yieldparam server [Server] before it runs
    def self.run(app, **options)
      server = Server.new(app, Configuration.new(settings(options)))
      yield server if block_given?
      %w[TERM INT].each { |signal| trap(signal) { server.drain } }
      puts "Upwell #{VERSION} serves on #{server.description}"
      $stdout.flush
      server.run
    end

    # @return [Hash{String => String}] for rackup's help
    def self.valid_options
      SETTINGS.select { |setting| NAMES.include?(setting.name) }.to_h { |setting| ["#{setting.name}=#{setting.argument}", setting.help] }
    end

    def self.settings(options)
      options.transform_keys { |name| RENAMED.fetch(name.to_sym, name.to_sym) }.slice(*NAMES).compact
    end
    private_class_method :settings
  end
end
