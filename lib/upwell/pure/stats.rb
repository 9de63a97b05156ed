# frozen_string_literal: true

module Upwell
  module Pure
    # {Upwell.stats}: what there is in this process now. Each scheduler, loop and selector adds its own.
    module Stats
      NOTHING = { schedulers: 0, loops: 0, fibers: 0, waiting: 0, watches: 0, descriptors: 0, operations: 0, timers: 0 }.freeze
      private_constant :NOTHING

      # What is to be counted is extended by it.
      module Counted; end

      # Where objects cannot be listed. CRuby's, before 3.3, may name what was collected, and ends the process when objects are compacted.
      @holders = ObjectSpace::WeakMap.new if RUBY_ENGINE == "jruby"

      # @param holder [#stats_here] to be counted as long as somebody refers to it
      # @return [void]
      def self.count(holder)
        @holders ? @holders[holder] = true : holder.extend(Counted)
      end

      # @return [Hash{Symbol => Integer}]
      def self.sum
        holders = @holders&.keys || ObjectSpace.each_object(Counted)
        holders.filter_map(&:stats_here).inject(NOTHING.dup) { |sum, stats| sum.merge(stats) { |_, one, other| one + other } }
      end
    end
  end
end
