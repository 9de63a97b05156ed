# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # JavaScript may throw anything, and have a promise rejected with anything.
  module Thrown
    # @param thrown [Object]
    # @return [Exception]
    def self.error(thrown)
      `thrown instanceof Error` ? thrown : RuntimeError.new("#{text(thrown)} was thrown")
    end

    def self.text(thrown)
      %x{
        try { return String(thrown); }
        catch (error) { return typeof thrown; }
      }
    end
    private_class_method :text
  end
end
