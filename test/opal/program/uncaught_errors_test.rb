# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/opal_runtimes"
require_relative "../../support/raw_client"

# What an application does that no request can answer for.
class OpalUncaughtErrorsTest < Minitest::Test
  include OpalRuntimes

  APP = File.expand_path("../support/uncaught_errors.ru", __dir__)
  FAILURES = {
    "/gives-a-promise" => [/returned a promise .* instead of \[status, headers, body\]/, /rejected on purpose/],
    "/gives-nothing" => [/returned a JavaScript value instead of/],
    "/gives-nil" => [/the application returned nil instead of \[status, headers, body\]/],
    "/gives-two-values" => [/the application returned an Array of size 2 instead of/],
    "/gives-a-number-as-body" => [/the response body is an object of class Integer, but must be an Array/],
    "/exits" => [/Error during GET \/exits: .*SystemExit/],
    "/aborts" => [/\Aaborted on purpose$/, /Error during GET \/aborts: .*SystemExit/]
  }.freeze

  def start(command, workers = nil, &block)
    need(command)
    OpalProcess.open(command, *workers, app: APP, &block)
  end

  OpalProcess::RUNTIMES.each_key do |command|
    define_method(:"test_the_server_goes_on_on_#{command}") do
      start(command) do |server|
        FAILURES.each do |path, told|
          assert_equal 500, RawClient.get(server.port, path).status, path
          told.each { |pattern| server.await(pattern) unless server.lines.any?(pattern) }
        end
        assert_equal 200, RawClient.get(server.port, "/forgets").status
        server.await(/Error: .*forgotten on purpose/)
        assert_equal 200, RawClient.get(server.port, "/").status
        assert_predicate server.stop, :success?
        assert_match(/^left$/, server.lines.join)
      end
    end

    { "/throws" => 1, "/exits-later" => 4 }.each do |path, status|
      define_method(:"test_#{path.delete("/").tr("-", "_")}_ends_the_server_once_requests_are_finished_on_#{command}") do
        start(command) do |server|
          check_finished(server, path) { server.await(/finishing the request in flight/) }
          assert_equal status, server.await_end.exitstatus
          assert_equal path == "/throws", server.lines.join.include?("thrown on purpose")
        end
      end
    end
  end

  def test_a_worker_is_replaced
    start("up_node_cluster", %w[-w 1]) do |server|
      check_finished(server, "/throws") { server.await(/worker \d: finishing the request in flight/) }
      server.await(/died: exit 1; starting another/)
      assert_predicate server.stop, :success?
    end
  end

  private

  # A request of which a part was received is answered, whatever another one causes meanwhile.
  def check_finished(server, path)
    RawClient.open(server.port) do |client|
      client.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab")
      RawClient.get(server.port, "/") # what was sent before is received by then
      assert_equal 200, RawClient.get(server.port, path).status
      yield
      client.write("cd")
      assert_equal [200, "abcd"], client.response.to_a.values_at(0, 2)
    end
  end
end
