# frozen_string_literal: true

module Upwell
  class Server
    # Where an application is, in words for the operator.
    module Place
      # @param env [Hash] in which the application may have put anything
      # @return [String] the request and its client, in ASCII
      def self.request(env)
        texts = env.values_at("REQUEST_METHOD", "SCRIPT_NAME", "PATH_INFO", "REMOTE_ADDR").map { |text| printable(text) }
        format("%s %s%s of %s", *texts)
      end

      # @param thread [Thread]
      # @return [String] its backtrace, a line each
      def self.of(thread)
        (thread.backtrace || []).map { |line| "    #{line.dup.force_encoding(Encoding::UTF_8)}" }.join("\n")
      end

      def self.printable(text)
        case text # which need not be an Object
        when String then text.b.gsub(/[^ -~]/n) { |byte| format("\\x%02X", byte.ord) }.encode(Encoding::US_ASCII)
        else "?"
        end
      end
      private_class_method :printable
    end
  end
end
