# frozen_string_literal: true

require_relative "../configuration"

module Upwell
  module Opal
    # The service manager's environment, on a JavaScript runtime: inherited sockets are refused, and the notify socket is not used.
    module ServiceManager
      NOTE = "NOTIFY_SOCKET is ignored: a server on a JavaScript runtime does not notify the service manager; use Type=exec in the unit"

      # Checks the environment, and removes the variables of the notify socket.
      #
      # @param environment [Hash{String => String}]
      # @yieldparam note [String] for the operator
      # @raise [ConfigurationError] when the service manager passes sockets to this process
      def self.check(environment = ENV)
        if environment["LISTEN_FDS"] && environment["LISTEN_PID"] == Process.pid.to_s
          raise ConfigurationError, "a server on a JavaScript runtime cannot serve on inherited sockets; remove the .socket unit, or use upwell"
        end

        yield NOTE if environment.delete("NOTIFY_SOCKET")
      end
    end
  end
end
