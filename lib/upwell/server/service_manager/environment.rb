# frozen_string_literal: true

require_relative "../listening/inherited_sockets"
require_relative "notifications"

module Upwell
  class Server
    module ServiceManager
      # Keeps what the service manager passes to this process from its child processes.
      module Environment
        VARIABLES = [*Notifications::VARIABLES, *Listening::InheritedSockets::VARIABLES].freeze

        # Removes the service manager's variables from the environment, and makes the passed descriptors close on exec.
        #
        # @param environment [Hash{String => String}]
        # @return [Hash{String => String}] the variables
        def self.take(environment = ENV)
          variables = VARIABLES.to_h { |name| [name, environment.delete(name)] }.compact
          remove_from_bundler if environment.equal?(ENV)
          Listening::InheritedSockets.close_on_exec(variables)
          variables
        end

        # `Bundler.with_original_env` and `with_unbundled_env` give a child process the environment that Bundler has stored at its start.
        def self.remove_from_bundler
          return unless defined?(Bundler::ORIGINAL_ENV) && !Bundler::ORIGINAL_ENV.frozen?

          VARIABLES.each { |name| Bundler::ORIGINAL_ENV.delete(name) }
        end
        private_class_method :remove_from_bundler
      end
    end
  end
end
