# frozen_string_literal: true

require_relative "event_loop"

module Upwell
  module ActionCable
    # For Action Cable's server: one that waits for others only where it must.
    module Server
      # :nodoc:
      def event_loop
        @event_loop || @mutex.synchronize { @event_loop ||= EventLoop.new(self) }
      end
    end
  end
end
