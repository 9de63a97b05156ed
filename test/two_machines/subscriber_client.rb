# frozen_string_literal: true

require_relative "../support/websocket_client"

# A client of app.ru. What it hears are publishers and numbers: "2 17" is the message 17 of publisher 2.
class SubscriberClient < WebSocketClient
  # @return [Integer] the process that serves it
  attr_reader :worker
  # @return [Float] seconds, of the slowest answer
  attr_reader :slowest

  def initialize(port)
    super
    @worker = receive.to_i
    @heard = Hash.new { |heard, publisher| heard[publisher] = [] }
    @news = Queue.new
    @answers = Queue.new
    @slowest = 0
    @thread = Thread.new { listen }
  end

  # Has it published, and waits until it was served.
  def say(publisher, number)
    began = now
    send_text("#{publisher} #{number}")
    Timeout.timeout(WAIT_MAX) { @answers.pop }
    @slowest = [@slowest, now - began].max
  end

  # Waits until it has heard this number of that publisher, or a later one.
  def hear_until(publisher, number)
    Timeout.timeout(WAIT_MAX) { take(@news.pop) until @heard[publisher].last.to_i >= number }
  rescue Timeout::Error
    raise Error, "#{publisher} #{number} was not heard, but #{@heard[publisher].last.inspect}"
  end

  # @return [Array<Integer>] in the order in which they were heard
  def heard(publisher)
    take(@news.pop) until @news.empty?
    @heard[publisher]
  end

  def close_socket
    @thread&.kill&.join
    super
  end

  private

  def listen
    while (message = receive)
      message == "served" ? @answers << message : @news << message
    end
  end

  def take(message)
    publisher, number = message.split.map(&:to_i)
    @heard[publisher] << number
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
