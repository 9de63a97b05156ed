# frozen_string_literal: true

module Upwell
  module Pure
    # {Upwell.stats}: counts the objects of this process. Each scheduler, loop and selector adds its own counts.
    module ObjectCounts
      NOTHING = { schedulers: 0, loops: 0, fibers: 0, waiting: 0, watches: 0, descriptors: 0, operations: 0, timers: 0 }.freeze
      private_constant :NOTHING

      # Counted objects are extended with this module.
      module Counted; end

      # JRuby cannot list objects. CRuby can, and its WeakMap before 3.3 may return collected objects, and crashes when objects are compacted.
      @holders = ObjectSpace::WeakMap.new if RUBY_ENGINE == "jruby"

      # Adds an object to the counts.
      #
      # @param holder [#stats_here] counted until it is garbage collected
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
