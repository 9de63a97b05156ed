# frozen_string_literal: true

# Waiting for what has to come.
module Await
  SECONDS = 30

  # What did not come, or came otherwise.
  class Failure < StandardError; end

  module_function

  # @param what [String]
  # @return [Object] what the block returns, once that is true
  def await(what, seconds = SECONDS)
    deadline = now + seconds
    until (result = yield)
      raise Failure, "waited #{seconds} s for #{what}" if now > deadline

      sleep(0.01)
    end
    result
  end

  # @param what [String]
  def expect(what, holds)
    raise Failure, what unless holds
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
