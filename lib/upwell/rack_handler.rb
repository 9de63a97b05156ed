# frozen_string_literal: true

require_relative "../upwell"

module Upwell
  # What `rackup -s upwell` and `rails server -u upwell` call.
  module RackHandler
    # rackup's own names for settings.
    RENAMED = { Host: :bind, Port: :port }.freeze

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
      SETTINGS.to_h { |setting| ["#{setting.name}=#{setting.argument || "true"}", setting.help] }
    end

    def self.settings(options)
      names = SETTINGS.map(&:name)
      known = options.transform_keys { |name| RENAMED.fetch(name.to_sym, name.to_sym) }.slice(*names)
      known.reject { |name, value| value.nil? || name == :environment || name == :pid_file }
    end
    private_class_method :settings
  end
end
