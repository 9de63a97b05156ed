# frozen_string_literal: true

# Runs one workload under one scheduler in this process, and prints what it took as JSON:
#   ruby [-r LIBRARY] measure_workload.rb WORKLOAD SECONDS CLASS [BACKEND]

require "json"
require_relative "executors"

# A workload, run again and again until the seconds are over.
class MeasureWorkload
  # A run did not do what it should.
  Incomplete = Class.new(StandardError)

  def initialize(workload, concurrency)
    @workload = workload
    @concurrency = concurrency
  end

  # @return [Hash{Symbol => Numeric}]
  def measure(seconds)
    once # the compiler's time
    operations = elapsed = user = system = 0
    while elapsed < seconds
      done, took, user_took, system_took = once
      operations += done
      elapsed += took
      user += user_took
      system += system_took
    end
    { operations: operations, seconds: elapsed, user: user, system: system, peak: peak }
  end

  private

  def once
    workload = @workload.new
    before = times
    @concurrency.run { workload.start(@concurrency) }
    took = times.zip(before).map { |after, start| after - start }
    raise Incomplete, "error: #{workload.done} of #{workload.operations} operations were done" if workload.done != workload.operations

    [workload.operations, *took]
  ensure
    workload&.close
  end

  def times
    cpu = Process.times
    [Process.clock_gettime(Process::CLOCK_MONOTONIC), cpu.utime, cpu.stime]
  end

  def peak
    File.read("/proc/self/status")[/^VmHWM:\s+(\d+) kB/, 1].to_i * 1024
  end
end

if $PROGRAM_NAME == __FILE__
  name, seconds, *scheduler = ARGV
  require_relative "workloads/#{name}"
  workload = Object.const_get(name.split("_").map(&:capitalize).join)
  puts JSON.generate(MeasureWorkload.new(workload, Bench::Io::Executors.of(*scheduler)).measure(Float(seconds)))
end
