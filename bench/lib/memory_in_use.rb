# frozen_string_literal: true

require "fiddle"
require_relative "growth"

module Bench
  # What this process holds, garbage and what malloc keeps for later left aside: where threads come and go, each arena of malloc keeps what
  # they have freed, so that the process grows and shrinks by much more than any leak.
  class MemoryInUse
    OBJECTS_ALLOWANCE = 500
    BYTES_ALLOWANCE = 4 << 20 # pages of the heap that are not quite empty
    TRIM = Fiddle::Function.new(Fiddle::Handle::DEFAULT["malloc_trim"], [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_INT)

    def initialize
      @objects = []
      @bytes = []
    end

    # Takes a reading. Costs some hundredths of a second.
    def read
      GC.start
      TRIM.call(0)
      @objects << GC.stat(:heap_live_slots)
      @bytes << (Integer(File.read("/proc/self/status")[/^VmRSS:\s+(\d+) kB/, 1]) * 1024)
    end

    # @return [Array<String>] what has grown from reading to reading
    # @raise [ArgumentError] when there are too few readings
    def growth
      { "objects" => Growth.new(@objects, allowance: OBJECTS_ALLOWANCE), "bytes in use" => Growth.new(@bytes, allowance: BYTES_ALLOWANCE) }
        .filter_map { |name, growth| "#{name} grew: #{growth}" if growth.found? }
    end

    # @return [String] the last reading
    def to_s
      format("%.1f MiB, %d objects", (@bytes.last || 0) / 1_048_576.0, @objects.last || 0)
    end
  end
end
