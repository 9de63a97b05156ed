# frozen_string_literal: true

module Upwell
  class Server
    # Sentry keeps its hub, with user, tags and breadcrumbs, in a variable of the thread: of all requests in mode fibers. Prepended to Sentry,
    # this keeps it by fiber, and so do versions whose `hub_isolation_level` is :fiber (6.7 and Ruby 3.2).
    module FiberSentry
      KEY = :upwell_sentry_hub

      # If Sentry is there and needs it. What was set while the application was loaded stays that of this fiber.
      def self.establish
        return unless defined?(::Sentry::Hub)

        own = ::Sentry.get_current_hub
        return unless ::Fiber.new { ::Sentry.get_current_hub.equal?(own) }.resume

        Thread.current[KEY] = own
        ::Sentry.singleton_class.prepend(self)
      end

      # @return [Sentry::Hub, nil] the fiber's
      def get_current_hub # rubocop:disable Naming/AccessorMethodName
        Thread.current[KEY] || clone_hub_to_current_thread
      end

      # @return [Sentry::Hub, nil] the fiber's, a new one
      def clone_hub_to_current_thread
        Thread.current[KEY] = get_main_hub&.clone
      end
    end
  end
end
