# frozen_string_literal: true

module Upwell
  module Pure
    # This part of the scheduler handles Fiber#raise on JRuby, see scheduler.rb.
    class Scheduler
      # Prepended to Fiber on JRuby, which would resume a waiting fiber. After that, neither fiber could transfer again.
      module FiberRaise
        # @return [Object]
        def raise(*exception)
          scheduler = Fiber.scheduler
          super unless scheduler.is_a?(Scheduler) && !equal?(Fiber.current) && scheduler.raise_into(self, exception)
        end
      end
      private_constant :FiberRaise

      Fiber.prepend(FiberRaise) if RUBY_ENGINE == "jruby"
    end
  end
end
