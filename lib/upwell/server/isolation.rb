# frozen_string_literal: true

# The isolated libraries, one line each. Mongoid follows the level of Active Support, which comes before.
require_relative "isolation/i18n"
require_relative "isolation/name_resolution"
require_relative "isolation/sentry"
require_relative "isolation/sequel"
require_relative "isolation/active_support"
require_relative "isolation/mongoid"

require_relative "isolation/database_pools"
require_relative "isolation/rails_execution_cleanup"

module Upwell
  class Server
    # Many requests share a thread in mode fibers. Some libraries store the state of a request per thread. This module makes them store it per
    # fiber, once the application is loaded.
    module Isolation
      # Isolates each library that is loaded.
      #
      # @return [Array<String>] sentences for the log
      # @raise [ConfigurationError] when a library cannot be isolated
      def self.establish
        ISOLATED_GEMS.map(&:establish).grep(String)
      end
    end
  end
end
