# frozen_string_literal: true

module Upwell
  class Scheduler
    # Hands over to threads what Ruby itself can do without its lock, such as compression: a scheduler has it that is asked to. Ruby looks
    # whether there is this hook before it takes anything there, and else does it at once.
    module Offloading
      # What stays here: closing takes less than being told of it, and copying calls the scheduler where it has to wait.
      KEPT = %w[close copy_stream].freeze
      private_constant :KEPT

      # @param work [#call]
      # @return [nil]
      def blocking_operation_wait(work)
        @workers.finish { work.call }
        nil
      end

      # @return [Boolean]
      def respond_to?(name, *)
        super && !(name == :blocking_operation_wait && KEPT.include?(caller_locations(1, 1).first&.base_label))
      end
    end
  end
end
