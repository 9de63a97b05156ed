# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/response_wire_cases"
require_relative "../support/wire_trace"

# Whatever an application answers, its client sees what the table says, and the next request is answered rightly: on the same
# connection, or where that was closed on another.
module ResponseWireCaseTests
  CLOSED_WITHIN = 30 # seconds

  ResponseWireCases::CASES.each_with_index do |(name, one), index|
    define_method("test_#{name.gsub(/[^\w]+/, "_")}_#{index}") do
      trace = WireTrace.new(port, request(one, index), head_request: one.verb == "HEAD")
      assert_seen(one, trace)
      assert_equal "200 abc, next", plain
      assert_closed(one, index) if one.closes
    end
  end

  def assert_seen(one, trace)
    wanted = one.wire.is_a?(Hash) ? one.wire.fetch(mode, one.wire["others"]) : one.wire
    wanted.is_a?(Regexp) ? assert_match(wanted, trace.to_s) : assert_equal(wanted.b, trace.to_s.b)
    assert_match(one.head, trace.head) if one.head
    refute_match(one.absent, trace.head) if one.absent
  end

  # What comes after the response may come after the next one.
  def assert_closed(one, index)
    deadline = now + CLOSED_WITHIN
    sleep 0.01 until (count = RawClient.get(port, "/closes/#{index}").body) == one.closes.to_s || now > deadline
    assert_equal one.closes.to_s, count
  end

  def plain
    WireTrace.new(port, "GET / HTTP/1.1\r\nHost: a\r\nX-Case: #{ResponseWireCases::PLAIN}\r\n\r\n").to_s
  end

  def request(one, index)
    target = one.verb == "CONNECT" ? "a:1" : "/#{index}"
    head = "#{one.verb} #{target} HTTP/#{one.version}\r\nHost: a:1\r\nX-Case: #{index}\r\n#{one.request}"
    head.include?("\r\n\r\n") ? head : "#{head}\r\n"
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

MODES.each do |mode_name|
  Object.const_set("ResponseWireCases#{mode_name.capitalize.delete(":")}Test", Class.new(Minitest::Test) do
    include ResponseWireCaseTests

    servers = {}
    Minitest.after_run { servers.each_value(&:kill) }
    define_method(:setup) { port || start }
    define_method(:port) { servers[:one]&.port }
    define_method(:start) do
      options = [*ServerProcess::PATIENT, "--body-timeout", "120"]
      servers[:one] = ServerProcess.new("--mode", mode_name, *options, app: "response_wire_cases.ru").read_on
      assert_equal "200 abc, next", plain
    end
    define_method(:mode) { mode_name }
  end)
end
