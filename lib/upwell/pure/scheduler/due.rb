# frozen_string_literal: true

module Upwell
  module Pure
    class Scheduler
      # What is to be raised into a fiber: when a time is up, or as another thread asks for it.
      Due = Struct.new(:fiber, :exception, :deadline, :due, :expired, :tried) do
        # @return [void]
        def expire
          due << self unless expired
          self.expired = true
        end

        # @return [Boolean] once: what makes the exception may raise another each time
        def try_again?
          !tried && (self.tried = true)
        end
      end
      private_constant :Due
    end
  end
end
