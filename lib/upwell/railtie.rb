# frozen_string_literal: true

module Upwell
  # Loaded by Rails applications with Upwell in their Gemfile. It records the application's isolation level for {Server::Isolation::ActiveSupport},
  # because Rails does not keep it. It makes Upwell the default of `rails server`. With `config.upwell.action_cable = true`, Action Cable
  # uses the server's own WebSockets.
  class Railtie < ::Rails::Railtie
    # The servers that rackup finds by itself.
    FOUND_BY_RACKUP = %w[puma falcon webrick].freeze

    class << self
      # @return [Symbol, nil] the application's `config.active_support.isolation_level`; nil when the application does not set it
      attr_reader :chosen_isolation_level
    end

    # `rails server` without -u uses Upwell when the Gemfile has no other server.
    ENV["RACKUP_HANDLER"] ||= "upwell" if defined?(::Rails::Server) && FOUND_BY_RACKUP.none? { |name| Gem.loaded_specs.key?(name) }

    config.upwell = ActiveSupport::OrderedOptions.new

    initializer "upwell.action_cable" do |app|
      # The application's own initializers, which may set this option, run later.
      ActiveSupport.on_load(:action_cable) { require "upwell/action_cable" if app.config.upwell.action_cable }
    end

    # An initializer would be too late: Active Support's own hook removes the level from the configuration.
    config.after_initialize do |app|
      @chosen_isolation_level = app.config.active_support.isolation_level
    end
  end
end
