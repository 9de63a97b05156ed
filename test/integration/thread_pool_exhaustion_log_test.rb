# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/request_release_file"

# What the operator is told when clients wait for an application that is busy.
class ThreadPoolExhaustionLogTest < Minitest::Test
  def test_threads_that_are_all_taken_while_requests_wait_are_told_with_their_requests
    ServerProcess.open("--mode", "threads:2", "--stuck-timeout", "0.2") { |server| RequestReleaseFile.open { |release| fill(server, release) } }
  end

  private

  def fill(server, release)
    text = "GET /held?#{release.path} HTTP/1.1\r\nHost: a\r\n\r\n"
    clients = Array.new(3) { RawClient.new(server.port).tap { |client| client.write(text) } }
    server.await(/all 2 threads are busy, and 1 requests wait/)
    2.times { server.await(/GET \/held from 127\.0\.0\.1 for \d+\.\d s; backtrace/) }
    release.give
    assert_equal(%w[released] * 3, clients.map { |client| client.response.body })
  ensure
    clients&.each(&:close)
  end
end
