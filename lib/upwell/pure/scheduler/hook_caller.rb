# frozen_string_literal: true

module Upwell
  module Pure
    class Scheduler
      # Finds the method through which Ruby calls a hook.
      module HookCaller
        FRAMES_MAX = 16 # frames of a hook and its wrappers
        private_constant :FRAMES_MAX

        private

        # Finds the caller of a hook.
        #
        # @param hook [String] its name; a subclass may have its own hook, which calls `super`
        # @return [String, nil] the calling method
        def asked_by(hook)
          labels = caller_locations(2, FRAMES_MAX).map(&:base_label)
          labels[(labels.rindex(hook) || -1) + 1]
        end
      end
      private_constant :HookCaller
    end
  end
end
