# frozen_string_literal: true

require_relative "../loop_round"
require_relative "../selector_round"

module Torture
  module ActivityKinds
    # Loops and selectors, each on a thread of its own, which may be another one each time.
    module LoopsAndSelectors
      IDLE = Thread::Queue.new # loops that have been used, for the next
      CHILD_STATUS = 6
      ALONE_IN_CHILD = RUBY_VERSION < "3.4" # Ruby 3.1 may crash in a child that makes threads: see docs/guide/scheduler.md

      def loop_events
        events = idle_loop
        own_thread { |dice| LoopRound.new(self, events, dice).run }.value
        IDLE << events
      end

      # The child goes on with the loop, and so does the parent.
      def loop_in_child
        events = idle_loop
        own_thread do |dice|
          LoopRound.new(self, events, dice).run
          child = fork_round(events, dice)
          LoopRound.new(self, events, dice).run
          status = wait_for_child(child)
          check(status.exitstatus == CHILD_STATUS, "status of a child: #{status}")
        end.value
        IDLE << events
      end

      def selector
        own_thread { |dice| SelectorRound.new(self, dice).run }.value
      end

      private

      def fork_round(events, dice)
        pid = fork do
          settle_in_child
          LoopRound.new(self, events, dice, alone: ALONE_IN_CHILD).run
          exit!(CHILD_STATUS)
        end
        own_child(pid)
      end

      def idle_loop
        IDLE.empty? ? Upwell::Loop.new(backend: BACKEND) : IDLE.pop(true)
      end
    end
  end
end
