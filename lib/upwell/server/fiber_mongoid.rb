# frozen_string_literal: true

module Upwell
  class Server
    # Mongoid 9.0.4 to 9.0.10, and later ones before Ruby 3.2, which has storage of fibers, keep sessions with their transactions in a variable
    # of the thread: of all requests in mode fibers.
    module FiberMongoid
      FIRST = "9.1 on Ruby 3.2" # that can do otherwise
      PROBE = :upwell

      # Called when Active Support's level is :fiber, by which Mongoid goes.
      #
      # @raise [ConfigurationError] when Mongoid is there, and shares
      def self.check
        return unless defined?(::Mongoid::Threaded) && shared?

        FiberIsolation.refuse("Mongoid #{::Mongoid::VERSION}", "sessions and their transactions", FIRST)
      end

      # Whether a fiber's is another's, too.
      def self.shared?
        ::Fiber.new { ::Mongoid::Threaded.begin_execution(PROBE) }.resume
        return false unless ::Mongoid::Threaded.executing?(PROBE)

        ::Mongoid::Threaded.exit_execution(PROBE)
        true
      rescue ::Mongoid::Errors::MongoidError # on a Ruby that knows no such level
        true
      end
      private_class_method :shared?
    end
  end
end
