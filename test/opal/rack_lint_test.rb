# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/host_field_values"
require_relative "../support/opal_runtimes"

# The application of the tests on MRI, under Rack::Lint, on each JavaScript runtime.
class OpalRackLintTest < Minitest::Test
  include OpalRuntimes
  include HostFieldValues

  SOUND = { "/" => 200, "/env" => 200, "/echo" => 200, "/each-piece" => 200, "/sized" => 200, "/big" => 200, "/file" => 200, "/stream" => 200,
            "/cookies" => 200, "/finished" => 200, "/no-content" => 204, "/not-modified" => 304 }.freeze
  UNSOUND = %w[/too-long /too-short /split /raise-error /raise-late].freeze

  OpalProcess::RUNTIMES.each_key do |command|
    define_method("test_lint_on_#{command}") do
      need(command)
      OpalProcess.open(command) do |server|
        SOUND.each { |path, status| assert_equal status, RawClient.get(server.port, path).status, path }
        UNSOUND.each { |path| assert_equal 500, RawClient.get(server.port, path).status, path }
        check_contents(server.port)
        check_hosts(server.port)
      end
    end
  end

  private

  def check_hosts(port)
    SOUND_HOSTS.each { |host| assert_equal 200, RawClient.request(port, "GET /env HTTP/1.1\r\nHost: #{host}\r\n\r\n")&.status, host }
    (UNSOUND_HOSTS + ["a\r\nHost: b"]).each do |host|
      assert_equal 400, RawClient.request(port, "GET /env HTTP/1.1\r\nHost: #{host}\r\n\r\n")&.status, host
    end
  end

  def check_contents(port)
    response = RawClient.request(port, "POST /lines HTTP/1.1\r\nHost: a\r\nContent-Length: 17\r\n\r\nfirst\nabcdef\nlast")
    assert_equal ["first\n", "abc", ["def\n", "last"]], JSON.parse(response.body)
    assert_equal "abc", RawClient.get(port, "/stream").body
    assert_equal %w[a=1 b=2], RawClient.get(port, "/cookies").headers["set-cookie"]
  end
end
