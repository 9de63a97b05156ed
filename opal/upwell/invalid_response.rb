# backtick_javascript: true
# frozen_string_literal: true

require "upwell/description"
require "upwell/exception_log"
require "upwell/js_error"

module Upwell
  # Describes an application's return value that is not a response.
  module InvalidResponse
    # If the value is a promise, the reason for its rejection is logged, too.
    #
    # @param given [Object]
    # @param env [Hash]
    # @return [String] the description
    def self.kind(given, env)
      %x{
        if (given instanceof Promise) {
          given.catch(reason => #{ExceptionLog.report(JsError.error(`reason`), env)});
          return "a promise (only a body or a callback may return one)";
        }
        return #{Description.of(given)};
      }
    end
  end
end
