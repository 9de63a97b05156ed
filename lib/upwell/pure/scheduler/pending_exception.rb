# frozen_string_literal: true

module Upwell
  module Pure
    class Scheduler
      # An exception to raise into a fiber, at a deadline or at another thread's request.
      PendingException = Struct.new(:fiber, :exception, :deadline, :due, :expired, :tried) do
        # @return [void]
        def expire
          due << self unless expired
          self.expired = true
        end

        # @return [Boolean] true once: the exception's constructor may raise each time
        def try_again?
          !tried && (self.tried = true)
        end
      end
      private_constant :PendingException
    end
  end
end
