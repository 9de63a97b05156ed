# frozen_string_literal: true

module Upwell
  class Server
    # Sequel keeps a connection with its transaction by thread, unless it is told to keep it by fiber. In mode fibers all requests would share
    # one.
    module FiberSequel
      ONE_FOR_ALL = %i[single sharded_single].freeze # pools of one connection, which nobody waits for

      # Has Sequel keep connections by fiber, if it is there.
      #
      # @raise [ConfigurationError] when it is too old for that, or has one connection for everybody
      def self.establish
        return unless defined?(::Sequel::DATABASES)

        FiberIsolation.refuse_old("Sequel", ::Sequel::VERSION, "database connections")
        refuse_one_for_all
        ::Sequel.extension(:fiber_concurrency)
      end

      def self.refuse_one_for_all
        return if ::Sequel::DATABASES.none? { |database| ONE_FOR_ALL.include?(database.pool.pool_type) }

        raise ConfigurationError, "Sequel's option single_threaded shares one database connection and its transaction between all requests; " \
                                  "leave it out for mode fibers, or choose mode inline"
      end
      private_class_method :refuse_one_for_all
    end
  end
end
