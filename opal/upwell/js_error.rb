# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # Converts thrown JavaScript values, which may have any type, to exceptions. The same applies to the reason of a rejected promise.
  module JsError
    # Converts a thrown value.
    #
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
