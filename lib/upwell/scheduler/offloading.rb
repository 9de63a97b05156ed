# frozen_string_literal: true

module Upwell
  class Scheduler
    # Runs operations that need no Ruby lock, such as compression, on threads. Only a scheduler with `offload` has this hook. Ruby checks for the
    # hook first, and otherwise runs the operation directly.
    module Offloading
      # These operations run on this thread: closing is cheaper than the switch, and copying calls the scheduler where it has to wait.
      KEPT = %w[close copy_stream].freeze
      private_constant :KEPT

      # Runs an operation on a worker thread (Fiber::Scheduler#blocking_operation_wait).
      #
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
