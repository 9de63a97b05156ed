# frozen_string_literal: true

require_relative "isolated_gem"

module Upwell
  class Server
    module Isolation
      # Sentry stores its hub (user, tags and breadcrumbs) in a thread variable, which all requests in mode fibers share. This module is
      # prepended to Sentry and stores the hub per fiber. Sentry does so itself with `hub_isolation_level` :fiber (6.7 and Ruby 3.2).
      module Sentry
        extend IsolatedGem

        KEY = :upwell_sentry_hub

        # Prepends the module if Sentry is loaded and needs it. Values set while the application was loaded remain in the current fiber.
        def self.establish
          return unless defined?(::Sentry::Hub)

          own = ::Sentry.get_current_hub
          return unless ::Fiber.new { ::Sentry.get_current_hub.equal?(own) }.resume

          Thread.current[KEY] = own
          ::Sentry.singleton_class.prepend(self)
        end

        # @return [Sentry::Hub, nil] the fiber's hub
        def get_current_hub # rubocop:disable Naming/AccessorMethodName
          Thread.current[KEY] || clone_hub_to_current_thread
        end

        # @return [Sentry::Hub, nil] a new hub for this fiber
        def clone_hub_to_current_thread
          Thread.current[KEY] = get_main_hub&.clone
        end
      end
    end
  end
end
