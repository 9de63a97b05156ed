# frozen_string_literal: true

require_relative "growth_detector"

module Bench
  # What this process holds, garbage and what malloc keeps for later left aside: Ruby lets garbage grow to limits that grow too, and each arena
  # of malloc keeps what was freed, so that a process grows and shrinks by much more than any leak.
  class LeakDetector
    OBJECTS_ALLOWANCE = 500
    BYTES_ALLOWANCE = 4 << 20 # pages of the heap that are not quite empty
    TRIMS = Process.respond_to?(:warmup) # since Ruby 3.3, which has malloc give back what is free

    def initialize
      @objects = []
      @bytes = []
    end

    # Takes a reading. Costs some hundredths of a second.
    def read
      TRIMS ? Process.warmup : GC.start
      @objects << GC.stat(:heap_live_slots)
      @bytes << (Integer(File.read("/proc/self/status")[/^VmRSS:\s+(\d+) kB/, 1]) * 1024)
    end

    # @return [Array<String>] what has grown from reading to reading; before Ruby 3.3, of the objects only
    # @raise [ArgumentError] when there are too few readings
    def growth
      found = { "objects" => GrowthDetector.new(@objects, allowance: OBJECTS_ALLOWANCE) }
      found["bytes in use"] = GrowthDetector.new(@bytes, allowance: BYTES_ALLOWANCE) if TRIMS
      found.filter_map { |name, growth| "#{name} grew: #{growth}" if growth.found? }
    end

    # @return [String] the last reading
    def to_s
      format("%.1f MiB, %d objects", (@bytes.last || 0) / 1_048_576.0, @objects.last || 0)
    end
  end
end
