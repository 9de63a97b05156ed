# frozen_string_literal: true

# How long a block takes.
module ElapsedTime
  # @return [Float]
  def seconds
    before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    yield
    Process.clock_gettime(Process::CLOCK_MONOTONIC) - before
  end
end
