# frozen_string_literal: true

require "minitest/autorun"
require_relative "support/app"
require_relative "support/async_checks"
require_relative "support/middleware_checks"
require_relative "support/rails_checks"
require_relative "support/results"
require_relative "support/transaction_checks"

# Real applications under load, in every mode that is for them. APPS=rails8,sinatra chooses among them, MODES=fibers among those; with
# APPS_TABLE=1 the results are written into docs/guide/applications.md; with TLS=1 all of them speak TLS.
class AppsTest < Minitest::Test
  ALL = %w[fibers threads:5 inline].freeze
  MODES = ENV.fetch("MODES", ALL.join(",")).split(",")
  CHOSEN = ENV["APPS"]&.split(",")

  # @param title [Array<String>] the gems that the table names, with their versions
  def self.serves(app, *gems, modes: ALL, checks: Checks, ruby: "3.1")
    return if (CHOSEN && !CHOSEN.include?(app.name)) || Gem::Version.new(RUBY_VERSION) < Gem::Version.new(ruby)

    (modes & MODES).each do |mode|
      define_method("test_#{app.name}_#{mode}") do
        Results.note(app, gems, mode) do
          app.open do
            app.serve("upwell", "-b", "127.0.0.1", "-p", "0", "--mode", mode, *Secure.options, environment: Secure.environment) do |server|
              checks.new(self, app, server, mode).run
            end
          end
        end
      end
    end
  end

  SCHEMA = %w[bin/rails db:schema:load].freeze

  serves App.new("rails7", code: "rails", prepare: SCHEMA), "rails", checks: RailsChecks
  serves App.new("rails8", code: "rails", prepare: SCHEMA), "rails", checks: RailsChecks, ruby: "3.2"
  serves App.new("sinatra"), "sinatra"
  serves App.new("roda"), "roda", "sequel", checks: TransactionChecks
  serves App.new("hanami"), "hanami-router"
  serves App.new("grape"), "grape"
  serves App.new("rack2"), "rack"
  serves App.new("middleware"), "rack-attack", "rack-timeout", checks: MiddlewareChecks
  serves App.new("faye"), "faye-websocket", checks: WebSocketChecks
  serves App.new("async_websocket"), "async-http", "async-websocket", checks: AsyncChecks, modes: %w[fibers threads:5]
end

Minitest.after_run { Results.write if ENV["APPS_TABLE"] }
