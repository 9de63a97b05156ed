# backtick_javascript: true
# frozen_string_literal: true

require "upwell/exception_log"
require "upwell/js_error"

module Upwell
  class Program < Command
    # Handles errors outside of requests. A rejected promise without a handler is logged. An exception in a timer or another callback of the
    # runtime may have left any state inconsistent, so it is logged and the server ends.
    module UncaughtErrors
      # Installs handlers for errors outside of requests.
      #
      # @yieldparam status [Integer] the exit status of the process
      def self.watch(&thrown)
        %x{
          process.on("unhandledRejection", reason => #{ExceptionLog.report(JsError.error(`reason`), nil)});
          process.on("uncaughtException", error => #{thrown.call(status(JsError.error(`error`)))});
        }
      end

      def self.status(error)
        return error.status if SystemExit === error

        ExceptionLog.report(error, nil)
        1
      end
      private_class_method :status
    end
  end
end
