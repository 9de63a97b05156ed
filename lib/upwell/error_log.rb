# frozen_string_literal: true

module Upwell
  # Tells the operator about an exception that an application let out.
  module ErrorLog
    # Writes the request's method and path, the exception and its backtrace to `rack.errors`, in one piece.
    #
    # @param error [Exception]
    # @param env [Hash, nil] of the request, if it got that far
    # @return [void] never raises a StandardError: a log that cannot be written must not end the server
    def self.report(error, env)
      request = env ? " during #{env["REQUEST_METHOD"]} #{env["PATH_INFO"]}" : ""
      stream = (env && env["rack.errors"]) || $stderr
      stream.write("Error#{request}: #{error.full_message(highlight: false)}\n")
      stream.flush if stream.respond_to?(:flush)
    rescue StandardError
      nil
    end
  end
end
