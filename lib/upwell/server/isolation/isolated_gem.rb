# frozen_string_literal: true

module Upwell
  class Server
    module Isolation
      # The isolated gems. A module of this folder registers its gem by `extend IsolatedGem`, and has the method `establish`.
      ISOLATED_GEMS = [] # rubocop:disable Style/MutableConstant -- IsolatedGem.extended adds to it

      # Methods of a module that isolates a gem. Its method `establish` runs once the application is loaded. A string that the method
      # returns is logged. The method raises ConfigurationError when the gem cannot be isolated.
      module IsolatedGem
        # Registers the gem.
        #
        # @param gem [Module]
        def self.extended(gem)
          ISOLATED_GEMS << gem
        end

        # Raises the error for a gem that shares state between the fibers of a thread.
        #
        # @param gem [String] with its version
        # @param shared [String] the state that the gem stores per thread
        # @param first [String] the first version with isolation per fiber
        # @raise [ConfigurationError]
        def refuse(gem, shared, first)
          raise ConfigurationError, "#{gem} shares #{shared} between the requests of a thread; for mode fibers, install #{first} or " \
                                    "later; otherwise choose --mode threads:N"
        end

        # Raises an error when a gem is older than the first version with isolation per fiber.
        #
        # @param gem [String]
        # @param version [String]
        # @param shared [String] the state that the gem stores per thread
        # @param first [String] the first version with isolation per fiber
        # @raise [ConfigurationError] when the version is too old
        def refuse_old(gem, version, shared, first)
          refuse("#{gem} #{version}", shared, first) if Gem::Version.new(version) < Gem::Version.new(first)
        end
      end
    end
  end
end
