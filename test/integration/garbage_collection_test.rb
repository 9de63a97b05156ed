# frozen_string_literal: true

require_relative "../test_helper"

# What the binding refers to must be seen by the collector, and survive being moved.
class GarbageCollectionTest < Minitest::Test
  ALL_PATHS = { "/env" => /SERVER_NAME/, "/each-piece" => /\Aonetwothree\z/, "/stream" => /\Aabc\z/, "/file" => /TestApp/,
                "/finished" => /\A\z/, "/raise-error" => /500/, "/hints" => nil, "/cookies" => /\A\z/ }.freeze
  PATHS = (RACK_2 ? ALL_PATHS.except("/stream") : ALL_PATHS).freeze # Rack 2 knows no callable body

  def test_requests_while_every_allocation_collects
    each_kind(BACKENDS.first(1)) do |server| # the collector does not know which backend is in use
      RawClient.get(server.port, "/stress-on")
      check_all(server, PATHS.except("/raise-error")) # rendering a backtrace would take most of the time
      RawClient.get(server.port, "/stress-off")
    end
  end

  def test_requests_after_objects_have_moved
    each_kind do |server|
      3.times do
        check_all(server)
        assert_equal 200, RawClient.get(server.port, "/compact").status
      end
    end
  end

  private

  def each_kind(backends = BACKENDS)
    backends.product(MODES).each do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode) do |server|
        yield server
        assert_predicate server.stop, :success?
      end
    end
  end

  def check_all(server, paths = PATHS)
    paths.each { |path, pattern| check(server, path, pattern) }
    assert_equal "xyz", post(server, "xyz")
  end

  def check(server, path, pattern)
    response = RawClient.get(server.port, path)
    pattern ? assert_match(pattern, response.body) : assert_equal(103, response.status)
  end

  def post(server, body)
    text = "POST /echo HTTP/1.1\r\nHost: a\r\nX-New-Name: #{server.pid}\r\nContent-Length: #{body.size}\r\n\r\n#{body}"
    RawClient.request(server.port, text).body
  end
end
