# frozen_string_literal: true

require "minitest/autorun"
require_relative "support/app"
require_relative "support/rails_checks"
require_relative "support/results"

# Real applications under load, in every mode that is for them. APPS=rails8,sinatra chooses among them, MODES=fibers among those.
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
            app.serve("upwell", "-b", "127.0.0.1", "-p", "0", "--mode", mode) { |server| checks.new(self, app, server, mode).run }
          end
        end
      end
    end
  end

  SCHEMA = %w[bin/rails db:schema:load].freeze

  serves App.new("rails7", code: "rails", prepare: SCHEMA), "rails", checks: RailsChecks
  serves App.new("rails8", code: "rails", prepare: SCHEMA), "rails", checks: RailsChecks, ruby: "3.2"
end
