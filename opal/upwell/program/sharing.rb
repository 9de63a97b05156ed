# frozen_string_literal: true

module Upwell
  class Program < Command
    # How the workers of a cluster come to one port.
    module Sharing
      # @param runtime [Symbol]
      # @return [Boolean] whether workers are those of Node's module cluster
      def self.by_cluster?(runtime)
        runtime != :bun
      end

      # @param runtime [Symbol]
      # @return [Boolean] whether each has a socket of its own on the same port (SO_REUSEPORT). uWebSockets.js listens without Node's help, in a
      #   worker of its cluster, too.
      def self.by_kernel?(runtime)
        runtime != :node
      end
    end
  end
end
