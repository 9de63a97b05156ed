# frozen_string_literal: true

require_relative "../../lib/upwell/opal/runtime"
require_relative "../lib/node_package"

module Bench
  module Opal
    # Bun as npm has it.
    class BunPackage < NodePackage
      def initialize(version:)
        super("bun", version: version)
      end

      # @return [String] the executable that `up_bun` finds
      def path
        ::Upwell::Opal::Runtime.find(:bun, folder, environment).path
      end

      # @return [String]
      def versions
        "#{name} #{@version}"
      end
    end
  end
end
