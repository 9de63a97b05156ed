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
        raise ConfigurationError, "Sequel #{::Sequel::VERSION} shares database connections between the requests of a thread; " \
                                  "mode fibers needs #{FIRST} or later: choose mode threads:N"
      end
    end
  end
end
