# frozen_string_literal: true

module Upwell
  class Server
    module Logs
      # Compiled features that are disabled here because a shared library is missing. The server starts without them.
      module MissingLibraries
        # Logs a record for each missing library.
        #
        # @param configuration [Configuration, StaticConfiguration]
        # @return [void]
        def self.tell(configuration)
          missing = Upwell.missing_libraries
          missing.delete("io_uring") if configuration.backend # the configuration names another backend
          missing.each { |part, reason| Log.tell("the server starts without #{part}: #{reason}") }
        end
      end
    end
  end
end
