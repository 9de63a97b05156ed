# frozen_string_literal: true

module Upwell
  class Server
    # Sequel keeps a connection with its transaction by thread, unless it is told to keep it by fiber. In mode fibers all requests would share
    # one.
    module FiberSequel
      FIRST = "5.50" # that can

      # Has Sequel keep connections by fiber, if it is there.
      #
      # @raise [ConfigurationError] when it is too old for that
      def self.establish
        ::Sequel.extension(:fiber_concurrency) if defined?(::Sequel::DATABASES)
      rescue LoadError
        FiberIsolation.refuse("Sequel #{::Sequel::VERSION}", "database connections", FIRST)
      end
    end
  end
end
