# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  class Program < Command
    # Describes the runtime, for the log.
    module RuntimeDescription
      # @param runtime [Symbol]
      # @return [String]
      def self.of(runtime)
        "#{runtime == :bun ? "bun #{`process.versions.bun`}" : node(runtime)}, Opal #{RUBY_ENGINE_VERSION}"
      end

      def self.node(runtime)
        "#{"uWebSockets.js on " if runtime == :uwebsockets}node #{`process.versions.node`}"
      end
      private_class_method :node
    end
  end
end
