# frozen_string_literal: true

module Upwell
  # Loaded with a Rails application that has Upwell in its Gemfile. Remembers which isolation level it chose, because Rails itself forgets
  # whether it did, and {Server::FiberIsolation} asks; has `rails server` find Upwell; and with `config.upwell.action_cable = true` the
  # WebSockets of Action Cable be the server's own.
  class Railtie < ::Rails::Railtie
    # The servers that rackup looks for by itself.
    FOUND_BY_RACKUP = %w[puma falcon webrick].freeze

    class << self
      # @return [Symbol, nil] `config.active_support.isolation_level` of the application, nil when it leaves the level to others
      attr_reader :chosen_isolation_level
    end

    # `rails server` without -u, where Upwell is the only server of the Gemfile.
    ENV["RACKUP_HANDLER"] ||= "upwell" if defined?(::Rails::Server) && FOUND_BY_RACKUP.none? { |name| Gem.loaded_specs.key?(name) }

    config.upwell = ActiveSupport::OrderedOptions.new

    initializer "upwell.action_cable" do |app|
      # The application's own initializers, which may set it, come later.
      ActiveSupport.on_load(:action_cable) { require "upwell/action_cable" if app.config.upwell.action_cable }
    end

    # Here, and not in an initializer: before Active Support's own hook, which takes the level out of the configuration.
    config.after_initialize do |app|
      @chosen_isolation_level = app.config.active_support.isolation_level
    end
  end
end
