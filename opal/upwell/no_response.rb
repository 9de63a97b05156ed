# backtick_javascript: true
# frozen_string_literal: true

require "upwell/error_log"
require "upwell/thrown"

module Upwell
  # What an application gives back in the place of a response.
  module NoResponse
    # Why a promise is rejected is told, too.
    #
    # @param given [Object]
    # @param env [Hash]
    # @return [String] what it is
    def self.kind(given, env)
      %x{
        if (given instanceof Promise) {
          given.catch(reason => #{ErrorLog.report(Thrown.error(`reason`), env)});
          return "a promise, which only a body or a callback may give back,";
        }
        return given?.$class === undefined ? "what is no object of Ruby's" : #{given.class.to_s};
      }
    end
  end
end
