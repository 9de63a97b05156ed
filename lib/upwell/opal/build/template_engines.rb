# frozen_string_literal: true

module Upwell
  module Opal
    class Build
      # Selects the files of template engines. Tilt requires an engine's file at the first template, by a name from a table. A program contains
      # the files for ERB and for each engine that the application names: `slim :page`, `engine: "slim"`.
      module TemplateEngines
        TILT = "tilt.rb"
        ALWAYS = %w[erb erubi].freeze
        NAMED = %w[builder haml kramdown liquid markaby slim string].freeze

        # @param name [Symbol] of a method that the application calls
        # @return [Boolean] whether Sinatra has a method of this name that renders a template
        def self.named?(name)
          NAMED.include?(name.to_s)
        end

        # @param units [Array<Unit>]
        # @param main [Unit]
        # @return [Array<String>]
        def self.features(units, main)
          return [] unless units.any? { |unit| unit.name == TILT }

          own = [main, *units.select { |unit| unit.name.start_with?(RequireResolver::OWN) }]
          [*ALWAYS, *(NAMED & own.flat_map(&:words))].map { |engine| "tilt/#{engine}" }
        end
      end
    end
  end
end
