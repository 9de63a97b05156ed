# frozen_string_literal: true

require_relative "database_pools"
require_relative "isolated_gem"

module Upwell
  class Server
    module Isolation
      # Active Support stores the current attributes and the database connection, with its transaction, per thread by default. All requests in
      # mode fibers would share them. This module sets isolation per fiber.
      module ActiveSupport
        extend IsolatedGem

        ACTIVE_RECORD_MIN = "7.1" # the first versions with isolation per fiber
        RAILS_MIN = "7.0"

        # Sets Active Support's isolation level to :fiber, if Active Support is loaded.
        #
        # @return [String, nil] for the log, when the previous level was another
        # @raise [ConfigurationError] when the application requires threads, or its Rails supports only threads
        def self.establish
          refuse_old_rails
          return unless defined?(::ActiveSupport::IsolatedExecutionState)
          return if ::ActiveSupport::IsolatedExecutionState.isolation_level == :fiber

          refuse_choice
          DatabasePools.release # connections acquired under the old level are not visible under the new one
          ::ActiveSupport::IsolatedExecutionState.isolation_level = :fiber
          "Rails' isolation level is set to :fiber, which mode fibers requires"
        end

        def self.refuse_old_rails
          if defined?(::ActiveRecord::VERSION)
            refuse_old("Active Record", ::ActiveRecord::VERSION::STRING, "database connections", ACTIVE_RECORD_MIN)
          end
          refuse_old("Rails", ::Rails::VERSION::STRING, "executions", RAILS_MIN) if defined?(::Rails::VERSION)
        end
        private_class_method :refuse_old_rails

        def self.refuse_choice
          return unless defined?(Railtie) && Railtie.chosen_isolation_level

          raise ConfigurationError, "the application sets config.active_support.isolation_level = " \
                                    "#{Railtie.chosen_isolation_level.inspect}, so requests of a thread share current attributes and " \
                                    "database connections; remove the setting for mode fibers, or choose --mode threads:N"
        end
        private_class_method :refuse_choice
      end
    end
  end
end
