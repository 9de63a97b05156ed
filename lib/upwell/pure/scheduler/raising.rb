# frozen_string_literal: true

module Upwell
  module Pure
    # Described in scheduler.rb.
    class Scheduler
      # Is prepended to Fiber on JRuby, which would resume a fiber that waits, so that neither it nor whoever raises could transfer again.
      module Raising
        # @return [Object]
        def raise(*exception)
          scheduler = Fiber.scheduler
          super unless scheduler.is_a?(Scheduler) && !equal?(Fiber.current) && scheduler.raise_into(self, exception)
        end
      end
      private_constant :Raising

      Fiber.prepend(Raising) if RUBY_ENGINE == "jruby"
    end
  end
end
