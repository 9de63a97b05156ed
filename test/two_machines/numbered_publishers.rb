# frozen_string_literal: true

# Publishers that say a number each, then the next one, for as long as a test goes on beside it.
class NumberedPublishers
  PAUSE = 0.05 # seconds between rounds

  # @return [Array<SubscriberClient>]
  attr_reader :publishers
  # @return [Integer] the last round that all have said
  attr_reader :round

  def initialize(*publishers)
    @publishers = publishers.flatten
    @round = -1
    @ends = false
  end

  # @return [Integer] the last round
  def during
    thread = Thread.new { talk }
    yield
    @ends = true
    thread.value
  ensure
    thread.kill.join
  end

  # Waits until all of them have heard this round, or a later one, of each of these.
  def hear(visitors, round, publishers = @publishers)
    visitors.product(publishers) { |visitor, publisher| visitor.hear_until(number(publisher), round) }
  end

  # @return [Array<Integer>] rounds
  def heard(publisher, visitor)
    visitor.heard(number(publisher))
  end

  private

  def talk
    until @ends
      @publishers.each { |publisher| publisher.say(number(publisher), @round + 1) }
      @round += 1
      sleep PAUSE
    end
    @round
  end

  def number(publisher)
    @publishers.index(publisher)
  end
end
