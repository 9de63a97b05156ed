# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"

# Health checks and the delay before draining, on each JavaScript runtime.
class OpalHealthTest < Minitest::Test
  include OpalRuntimes

  APP = File.expand_path("support/app.ru", __dir__)
  OPTIONS = %w[--health-path /up --ready-path /ready --drain-delay 3].freeze
  PATIENCE = 60 # seconds
  FIELDS = { "content-type" => ["text/plain"], "cache-control" => ["no-store"] }.freeze

  OpalProcess::RUNTIMES.each_key do |runtime|
    [runtime, "#{runtime}_cluster"].each do |command|
      define_method("test_#{command}") do
        need(command)
        OpalProcess.open(command, *OPTIONS, app: APP) { |server| check(server) }
      end
    end
  end

  private

  def check(server)
    get = ->(path) { RawClient.get(server.port, path) }
    %w[/up /up?a=b /ready].each { |path| assert_answer(200, "ok\n", get.call(path)) }
    check_head(server)
    server.signal("TERM")
    Timeout.timeout(PATIENCE) { sleep 0.01 until Array.new(10) { get.call("/ready").status }.uniq == [503] }
    assert_answer(503, "draining\n", get.call("/ready"))
    assert_answer(200, "ok\n", get.call("/up"))
    assert_equal [200, ["close"]], get.call("/text").then { |response| [response.status, response.headers["connection"]] }
    assert_equal 0, server.await_end.exitstatus
    assert_match(/SIGTERM: draining begins in 3 s; until then new clients are served, and \/ready answers 503; a second signal/,
                 server.lines.join)
  end

  def check_head(server)
    RawClient.open(server.port) do |client|
      client.write("HEAD /up HTTP/1.1\r\nHost: a\r\n\r\n")
      assert_answer(200, "", client.response(head: true))
    end
  end

  def assert_answer(status, text, response)
    assert_equal [status, text], [response.status, response.body]
    assert_equal FIELDS, response.headers.slice(*FIELDS.keys)
  end
end
