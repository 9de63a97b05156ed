# frozen_string_literal: true

module Bench
  module Opal
    # Gems, and the runtime or the package for it that they are served with.
    #
    # @!attribute gems [GemInstallation]
    # @!attribute runtime [SystemProgram, NodePackage]
    GemsAndRuntimeInstallation = Struct.new(:gems, :runtime) do
      def name
        to_a.map(&:name).join(" with ")
      end

      # @raise [GemInstallation::Error]
      def install
        each(&:install)
      end

      # What is compiled is kept beside the gems: the user's own is not pushed out by it.
      #
      # @return [Hash{String => String}]
      def environment
        { **gems.environment, **runtime.environment, "XDG_CACHE_HOME" => gems.folder }
      end

      # @return [String]
      def versions
        to_a.map(&:versions).join(", ")
      end
    end
  end
end
