# frozen_string_literal: true

# For tests of what comes in the midst of a wait.
module WhenWaiting
  # Runs the block in another thread once this one waits.
  #
  # @return [Thread]
  def when_waiting
    thread = Thread.current
    Thread.new do
      Thread.pass until thread.stop?
      yield
    end
  end
end
