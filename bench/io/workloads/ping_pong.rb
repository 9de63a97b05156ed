# frozen_string_literal: true

# One byte goes to and fro between two activities, through two pipes.
class PingPong
  ROUND_TRIPS = 5_000

  attr_reader :done

  def initialize
    @ping = IO.pipe
    @pong = IO.pipe
    @done = 0
  end

  def operations
    ROUND_TRIPS
  end

  def start(concurrency)
    concurrency.spawn { ROUND_TRIPS.times { @pong.last.write(@ping.first.readpartial(1)) } }
    concurrency.spawn { ROUND_TRIPS.times { serve } }
  end

  def close
    [*@ping, *@pong].each(&:close)
  end

  private

  def serve
    @ping.last.write("x")
    @done += 1 if @pong.first.readpartial(1) == "x"
  end
end
