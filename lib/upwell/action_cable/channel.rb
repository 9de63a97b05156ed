# frozen_string_literal: true

require_relative "direct_stream"

module Upwell
  module ActionCable
    # Extends Action Cable's channels: a stream without a callback passes broadcasts on directly.
    module Channel
      private

      def worker_pool_stream_handler(broadcasting, user_handler, coder: nil)
        handler = super
        return handler if user_handler || !DirectStream.possible?(self)

        DirectStream.new(self, coder || ActiveSupport::JSON, handler)
      end
    end
  end
end
