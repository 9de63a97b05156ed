# frozen_string_literal: true

require_relative "websocket_cases"

# Runs cases against a server, some of them at once.
class WebSocketCaseRunner
  AT_ONCE = 4
  ATTEMPTS = 3
  # Seconds. A server waits for 2 until it cuts off who does not answer its close: a client that has been held up for
  # longer, on a busy machine, has seen nothing that counts.
  HELD_UP = 1.5

  # @param offer [String, nil] of the cases to which it does not matter
  # @param tls [Boolean]
  def initialize(port, offer: nil, tls: false)
    @port = port
    @offer = offer
    @tls = tls
  end

  # @param cases [Array<WebSocketCases::Case>]
  # @return [Array<String>] what went wrong
  def problems(cases)
    waiting = Queue.new
    cases.each { |one| waiting << one }
    Array.new(AT_ONCE) { Thread.new { problems_of(waiting) } }.flat_map(&:value)
  end

  private

  def problems_of(waiting)
    found = []
    loop { found << problem(waiting.pop(true)) }
  rescue ThreadError # none is left
    found.compact
  end

  # @return [String, nil]
  def problem(one, attempt = 1)
    began = now
    offer = one.any_offer? ? @offer : one.offer
    WebSocketClient.open(@port, offer: offer, tls: @tls) { |client| one.run(client) }
    nil
  rescue StandardError => e
    return problem(one, attempt + 1) if now - began > HELD_UP && attempt < ATTEMPTS

    "#{one.id}: #{e.message} (#{e.class}, #{e.backtrace.first})"
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
