# frozen_string_literal: true

module Upwell
  class Server
    # Around an application of Rails in mode fibers. Rails ends what it has begun for a request, the query cache for one, when the body of the
    # response is closed. Where a middleware drops the body it does so at the thread's next request, from a note that a fiber does not keep
    # until then: so it is done at the end of the request.
    class LostExecutions
      # @param app [#call]
      # @return [#call] the application, wrapped if it was loaded with what makes executions
      def self.end_those_of(app)
        loaded? ? new(app) : app
      end

      # Active Support has names for what it has not loaded.
      def self.loaded?
        defined?(::ActiveSupport::ExecutionWrapper) && !::ActiveSupport.autoload?(:ExecutionWrapper) &&
          defined?(::ActiveSupport::IsolatedExecutionState)
      end
      private_class_method :loaded?

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

      def end_lost(env, *)
        state = Fiber.current.active_support_execution_state or return
        state.values.grep(::ActiveSupport::ExecutionWrapper).reverse_each { |execution| complete(execution, env) }
      end

      # What one raises is no concern of the others.
      def complete(execution, env)
        execution.complete!
      rescue StandardError => e
        ErrorLog.report(e, env)
      end
    end
  end
end
