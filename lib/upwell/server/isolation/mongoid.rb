# frozen_string_literal: true

require_relative "isolated_gem"

module Upwell
  class Server
    module Isolation
      # Mongoid stores sessions with their transactions in a thread variable, which all requests in mode fibers share. This affects Mongoid 9.0.4
      # to 9.0.10 and, before Ruby 3.2 (which added fiber storage), later versions.
      module Mongoid
        extend IsolatedGem

        FIRST = "9.1 on Ruby 3.2" # the first version with isolation per fiber
        PROBE = :upwell

        # Checks Mongoid. Call this method when Active Support's level is :fiber, since Mongoid follows that level.
        #
        # @raise [ConfigurationError] when Mongoid is loaded and shares sessions between fibers
        def self.establish
          return unless defined?(::Mongoid::Threaded) && shared?

          refuse("Mongoid #{::Mongoid::VERSION}", "sessions and their transactions", FIRST)
        end

        # Checks whether two fibers share a session.
        def self.shared?
          ::Fiber.new { ::Mongoid::Threaded.begin_execution(PROBE) }.resume
          return false unless ::Mongoid::Threaded.executing?(PROBE)

          ::Mongoid::Threaded.exit_execution(PROBE)
          true
        rescue ::Mongoid::Errors::MongoidError # raised on a Ruby without this level
          true
        end
        private_class_method :shared?
      end
    end
  end
end
