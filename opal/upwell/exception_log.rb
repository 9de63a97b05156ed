# backtick_javascript: true
# frozen_string_literal: true

require "upwell/log"

module Upwell
  # Logs exceptions that the application did not rescue.
  module ExceptionLog
    class << self
      # Writes method and path of the request, the exception and its backtrace to `rack.errors`, or to standard error if that fails.
      #
      # @param error [Exception]
      # @param env [Hash, nil] the request's environment, if it exists
      # @return [void]
      def report(error, env)
        record = "Error#{place(env)}: #{text(error)}"
        stream = env && env["rack.errors"]
        stream.nil? || stream.equal?($stderr) ? Log.tell(record) : write(record, stream)
      end

      private

      def write(record, stream)
        stream.write(Log.record(record))
      rescue Exception # rubocop:disable Lint/RescueException -- a stream of the application's, which may fail in any way
        Log.tell(record)
      end

      def place(env)
        env ? " during #{env.values_at("REQUEST_METHOD", "PATH_INFO").join(" ")}" : ""
      end

      # An exception's own message may raise.
      def text(error)
        error.full_message(highlight: false)
      rescue Exception # rubocop:disable Lint/RescueException
        `String(error.stack)`
      end
    end
  end
end
