# frozen_string_literal: true

require_relative "event_loop"

module Upwell
  module ActionCable
    # Extends Action Cable's server: its event loop uses threads only where work may block.
    module Server
      # :nodoc:
      def event_loop
        @event_loop || @mutex.synchronize { @event_loop ||= EventLoop.new(self) }
      end
    end
  end
end
