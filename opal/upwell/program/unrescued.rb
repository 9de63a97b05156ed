# backtick_javascript: true
# frozen_string_literal: true

require "upwell/error_log"
require "upwell/thrown"

module Upwell
  class Program < Command
    # What nobody has rescued, since it belongs to no request: a promise that is rejected and forgotten is logged. What is thrown in a timer, or
    # another callback of the runtime's, may have left anything half done: it is logged, and the server ends.
    module Unrescued
      # @yieldparam status [Integer] with which the process is to end
      def self.watch(&thrown)
        %x{
          process.on("unhandledRejection", reason => #{ErrorLog.report(Thrown.error(`reason`), nil)});
          process.on("uncaughtException", error => #{thrown.call(status(Thrown.error(`error`)))});
        }
      end

      def self.status(error)
        return error.status if SystemExit === error

        ErrorLog.report(error, nil)
        1
      end
      private_class_method :status
    end
  end
end
