# frozen_string_literal: true

# A thousand activities are begun at once and do nothing; twenty times over.
class Spawn
  ACTIVITIES = 1_000
  TURNS = 20

  attr_reader :done

  def initialize
    @done = 0
  end

  def operations
    ACTIVITIES * TURNS
  end

  def start(concurrency)
    concurrency.spawn { TURNS.times { spawn_all(concurrency) } }
  end

  def close; end

  private

  def spawn_all(concurrency)
    expected = @done + ACTIVITIES
    ACTIVITIES.times { concurrency.spawn { @done += 1 } }
    sleep(0) until @done == expected
  end
end
