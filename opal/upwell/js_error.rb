# backtick_javascript: true
# frozen_string_literal: true

require "upwell/errno_text"

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

    # Describes the failure of a system call in words.
    #
    # @param thrown [JavaScript Error]
    # @return [String]
    def self.reason(thrown)
      words(`thrown.code`) || `thrown.message`
    end

    # Describes an error code of the system.
    #
    # @param code [String, JavaScript Object] such as "EACCES"
    # @return [String, nil] nil for any other value
    def self.words(code)
      ErrnoText.of(Errno.const_get(code).new) if `typeof code === "string" && /^E[A-Z0-9]+$/.test(code)` && Errno.const_defined?(code)
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
