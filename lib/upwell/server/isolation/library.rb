# frozen_string_literal: true

module Upwell
  class Server
    module Isolation
      # The isolated libraries. A module of this folder registers its library by `extend Library`, and has the method `establish`.
      LIBRARIES = [] # rubocop:disable Style/MutableConstant -- Library.extended adds to it

      # Methods of a module that isolates a library. Its method `establish` runs once the application is loaded. A string that the method
      # returns is logged. The method raises ConfigurationError when the library cannot be isolated.
      module Library
        # Registers the library.
        #
        # @param library [Module]
        def self.extended(library)
          LIBRARIES << library
        end

        # Raises the error for a library that shares state between the fibers of a thread.
        #
        # @param library [String] with its version
        # @param shared [String] the state that the library stores per thread
        # @param first [String] the first version with isolation per fiber
        # @raise [ConfigurationError]
        def refuse(library, shared, first)
          raise ConfigurationError, "#{library} shares #{shared} between the requests of a thread; mode fibers needs #{first} or later; " \
                                    "choose mode threads:N"
        end

        # Raises an error when a library is older than the first version with isolation per fiber.
        #
        # @param library [String]
        # @param version [String]
        # @param shared [String] the state that the library stores per thread
        # @param first [String] the first version with isolation per fiber
        # @raise [ConfigurationError] when the version is too old
        def refuse_old(library, version, shared, first)
          refuse("#{library} #{version}", shared, first) if Gem::Version.new(version) < Gem::Version.new(first)
        end
      end
    end
  end
end
