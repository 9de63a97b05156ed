# frozen_string_literal: true

require_relative "isolated_gem"

module Upwell
  class Server
    module Isolation
      # Sequel stores a connection with its transaction per thread by default. All requests in mode fibers would share one connection.
      module Sequel
        extend IsolatedGem

        MIN = "5.32" # the first version with isolation per fiber
        ONE_FOR_ALL = %i[single sharded_single].freeze # pools with a single connection, for which callers do not wait

        # Sets Sequel's isolation to fibers, if Sequel is loaded.
        #
        # @raise [ConfigurationError] when Sequel is too old, or when its pool has a single connection
        def self.establish
          return unless defined?(::Sequel::DATABASES)

          refuse_old("Sequel", ::Sequel::VERSION, "database connections", MIN)
          refuse_one_for_all
          ::Sequel.extension(:fiber_concurrency)
        end

        def self.refuse_one_for_all
          return if ::Sequel::DATABASES.none? { |database| ONE_FOR_ALL.include?(database.pool.pool_type) }

          raise ConfigurationError, "Sequel's option single_threaded shares one database connection and its transaction between all requests; " \
                                    "remove it for mode fibers, or choose --mode inline"
        end
        private_class_method :refuse_one_for_all
      end
    end
  end
end
