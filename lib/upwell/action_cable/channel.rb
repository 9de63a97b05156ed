# frozen_string_literal: true

require_relative "direct_stream"

module Upwell
  module ActionCable
    # For Action Cable's channels: a stream that only passes on what is broadcast does so at once.
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
