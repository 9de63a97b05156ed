# frozen_string_literal: true

require_relative "../test_helper"

# What the operator is told when clients wait for an application that is busy.
class StuckTest < Minitest::Test
  def test_threads_that_are_all_taken_while_requests_wait_are_told_with_their_requests
    ServerProcess.open("--mode", "threads:2", "--stuck-timeout", "0.2") do |server|
      clients = Array.new(3) { RawClient.new(server.port).tap { |client| client.write("GET /sleep-a-while HTTP/1.1\r\nHost: a\r\n\r\n") } }
      server.await(/all 2 threads are taken, and 1 requests wait for one/)
      2.times { server.await(/GET \/sleep-a-while of 127\.0\.0\.1 for \d\.\d s, at/) }
      assert_equal(%w[slept] * 3, clients.map { |client| client.response.body })
    ensure
      clients&.each(&:close)
    end
  end
end
