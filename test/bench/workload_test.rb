# frozen_string_literal: true

require "minitest/autorun"
require "net/http"
require_relative "../../bench/lib/workload"

class WorkloadTest < Minitest::Test
  HELLO = Bench::WORKLOADS.find { |workload| workload.name == "hello" }

  def objection(text, workload: HELLO)
    buffered = Net::BufferedIO.new(StringIO.new(text))
    response = Net::HTTPResponse.read_new(buffered)
    response.reading_body(buffered, true) { response.body }
    workload.objection(response)
  end

  def test_the_expected_answer_is_accepted
    assert_nil objection("HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, world!")
  end

  def test_another_status_or_body_is_not
    assert_equal "status 503", objection("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")
    assert_equal 'body "Hello"', objection("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello")
  end

  def test_two_ways_of_framing_at_once_are_not
    text = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\nTransfer-Encoding: chunked\r\n\r\nd\r\nHello, world!\r\n0\r\n\r\n"
    assert_equal "Content-Length beside Transfer-Encoding", objection(text)
  end

  def test_missing_headers_are_not
    workload = HELLO.dup.tap { |copy| copy.headers_min = 2 }
    assert_equal "1 headers", objection("HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, world!", workload: workload)
  end
end
