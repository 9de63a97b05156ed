# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/slow_resolver"

# Requests that look up the names of hosts, in mode fibers: others are served meanwhile.
class NameResolutionTest < Minitest::Test
  REQUESTS = 5

  def test_requests_look_names_up_at_once
    BACKENDS.each do |backend|
      SlowResolver.hold do |environment, lookups|
        ServerProcess.open("--backend", backend, app: "name_resolution.ru", environment: environment) do |server|
          assert_at_once(server, lookups)
        end
      end
    end
  end

  private

  def assert_at_once(server, lookups)
    clients = Array.new(REQUESTS) { RawClient.new(server.port) }
    clients.each { |client| client.write("GET /asks?#{server.port} HTTP/1.1\r\nHost: test\r\n\r\n") }
    assert_equal REQUESTS, lookups.await(REQUESTS), server.lines.first
    assert_equal "answered", RawClient.get(server.port, "/").body
    lookups.release
    assert_equal ["answered"] * REQUESTS, (clients.map { |client| client.response.body })
  ensure
    clients&.each(&:close)
  end
end
