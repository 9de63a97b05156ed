# frozen_string_literal: true

require "minitest/autorun"
require_relative "support/application"
require_relative "support/async_checks"
require_relative "support/middleware_checks"
require_relative "support/rails_checks"
require_relative "support/results_page"
require_relative "support/transaction_checks"

# Real applications under load, in every mode that is for them. APPS=rails8,sinatra chooses among them, MODES=fibers among those; with
# APPS_TABLE=1 the results are written into docs/reference/applications.md; with TLS=1 all of them speak TLS.
class AppsTest < Minitest::Test
  ALL = %w[fibers threads:5 inline].freeze
  MODES = ENV.fetch("MODES", ALL.join(",")).split(",")
  CHOSEN = ENV["APPS"]&.split(",")

  # @param title [Array<String>] the gems that the table names, with their versions
  def self.serves(app, *gems, modes: ALL, checks: ServerChecks, ruby: "3.1")
    return if (CHOSEN && !CHOSEN.include?(app.name)) || Gem::Version.new(RUBY_VERSION) < Gem::Version.new(ruby)

    (modes & MODES).each do |mode|
      define_method("test_#{app.name}_#{mode}") do
        ResultsPage.note(app, gems, mode) do
          app.open do
            app.serve("upwell", "-b", "127.0.0.1", "-p", "0", "--mode", mode, *TLSOption.options, environment: TLSOption.environment) do |server|
              checks.new(self, app, server, mode).run
            end
          end
        end
      end
    end
  end

  SCHEMA = %w[bin/rails db:schema:load].freeze

  serves Application.new("rails7", code: "rails", prepare: SCHEMA), "rails", checks: RailsChecks
  serves Application.new("rails8", code: "rails", prepare: SCHEMA), "rails", checks: RailsChecks, ruby: "3.2"
  serves Application.new("sinatra"), "sinatra"
  serves Application.new("roda"), "roda", "sequel", checks: TransactionChecks
  serves Application.new("hanami"), "hanami-router"
  serves Application.new("grape"), "grape"
  serves Application.new("rack2"), "rack"
  serves Application.new("middleware"), "rack-attack", "rack-timeout", checks: MiddlewareChecks
  serves Application.new("faye"), "faye-websocket", checks: WebSocketChecks
  serves Application.new("async_websocket"), "async-http", "async-websocket", checks: AsyncChecks, modes: %w[fibers threads:5]
end

Minitest.after_run { ResultsPage.write if ENV["APPS_TABLE"] }
