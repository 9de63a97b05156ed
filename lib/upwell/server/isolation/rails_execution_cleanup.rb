# frozen_string_literal: true

module Upwell
  class Server
    module Isolation
      # Middleware for Rails in mode fibers. Rails completes a request's execution (with its query cache) when the response body is closed. If a
      # middleware drops the body, Rails completes the execution at the thread's next request, but the fiber's state is gone by then.
      # This class completes the execution at the end of the request.
      class RailsExecutionCleanup
        # Wraps an application.
        #
        # @param app [#call]
        # @return [#call] the application, wrapped if ActiveSupport::Executor is loaded
        def self.end_those_of(app)
          loaded? ? new(app) : app
        end

        # Active Support defines autoloads for constants that are not loaded.
        def self.loaded?
          defined?(::ActiveSupport::ExecutionWrapper) && !::ActiveSupport.autoload?(:ExecutionWrapper) &&
            defined?(::ActiveSupport::IsolatedExecutionState)
        end
        private_class_method :loaded?

        def initialize(app)
          @app = app
          @end_lost = method(:end_lost).to_proc
        end

        # Serves a request.
        #
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

        # An error of one execution does not affect the others.
        def complete(execution, env)
          execution.complete!
        rescue StandardError => e
          ExceptionLog.report(e, env)
        end
      end
    end
  end
end
