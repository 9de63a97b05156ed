# frozen_string_literal: true

module Upwell
  class Program < Command
    # Decides how the workers of a cluster share a port.
    module PortSharing
      # @param runtime [Symbol]
      # @return [Boolean] whether workers are those of Node's module cluster
      def self.by_cluster?(runtime)
        runtime != :bun
      end

      # @param runtime [Symbol]
      # @return [Boolean] whether each worker has its own socket on the same port (SO_REUSEPORT). uWebSockets.js listens without Node's help,
      #   even in a worker of Node's cluster.
      def self.by_kernel?(runtime)
        runtime != :node
      end
    end
  end
end
