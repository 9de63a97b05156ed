# frozen_string_literal: true

module Upwell
  class Server
    # Where an application is, in words for the operator.
    module Place
      # @param env [Hash]
      # @return [String] the request and its client
      def self.request(env)
        "#{env["REQUEST_METHOD"]} #{env["PATH_INFO"]} of #{env["REMOTE_ADDR"]}"
      end

      # @param thread [Thread]
      # @return [String] its backtrace, a line each
      def self.of(thread)
        (thread.backtrace || []).map { |line| "    #{line}" }.join("\n")
      end
    end
  end
end
