# frozen_string_literal: true

module Upwell
  class Server
    # Around an application of Rails in mode fibers. Rails ends what it has begun for a request, the query cache for one, when the body of the
    # response is closed. Where a middleware drops the body it does so at the thread's next request, from a note that a fiber does not keep
    # until then: so it is done at the end of the request.
    class LostExecutions
      # @param app [#call]
      # @return [#call] the application, wrapped if Rails is there
      def self.end_those_of(app)
        defined?(::ActiveSupport::IsolatedExecutionState) && defined?(::ActiveSupport::ExecutionWrapper) ? new(app) : app
      end

      def initialize(app)
        @app = app
        @end_lost = method(:end_lost).to_proc
      end

      # @param env [Hash]
      # @return [Array] the application's response
      def call(env)
        env.fetch("rack.response_finished") << @end_lost
        @app.call(env)
      end

      private

      def end_lost(*)
        state = Fiber.current.active_support_execution_state or return
        state.values.grep(::ActiveSupport::ExecutionWrapper).reverse_each(&:complete!)
      end
    end
  end
end
