# frozen_string_literal: true

# For tests of what comes in the midst of a wait.
module ActionWhileThreadWaits
  # Runs the block in another thread once this one waits.
  #
  # @return [Thread]
  def when_waiting
    thread = Thread.current
    Thread.new do
      await_waiting(thread)
      yield
    end
  end

  # Until it waits, or has ended: JRuby now and then ends a wait without a reason. It calls a thread stopped, too, that is on its way there.
  def await_waiting(thread)
    Thread.pass until thread.stop? && (RUBY_ENGINE != "jruby" || !thread.alive? || waits_in_select?(thread))
  end

  private

  def waits_in_select?(thread)
    thread.backtrace&.any? { |line| line.end_with?("select'") }
  end
end
