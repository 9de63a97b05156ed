# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"
require_relative "support/results"

# Each example under each command. With OPAL_TABLE=1 the results are written into the README.
class OpalCommandsTest < Minitest::Test
  include OpalRuntimes

  BODY = "sm\u00F8rrebr\u00F8d \u0000\xFF".b
  # By the example's name: a request, and what its response's body has to be.
  EXAMPLES = {
    "hello" => ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", /\AHello from Upwell\n\z/],
    "env" => ["GET /path?a=b HTTP/1.1\r\nHost: a:1\r\nX-Name: value\r\n\r\n",
              /^HTTP_X_NAME "value"\n(?:.*\n)*PATH_INFO "\/path"\nQUERY_STRING "a=b"\n.*REQUEST_METHOD "GET"\n/m],
    "echo" => ["POST / HTTP/1.1\r\nHost: a\r\nContent-Length: #{BODY.bytesize}\r\n\r\n#{BODY}", /\A#{Regexp.escape(BODY)}\z/n],
    "roda" => ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", /\AHello from Roda on Upwell\n\z/],
    "sinatra" => ["GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", /\AHello from Sinatra on Upwell\n\z/]
  }.freeze

  EXAMPLES.each do |example, (request, body)|
    OpalProcess.commands.each do |command|
      define_method("test_#{example}_under_#{command}") do
        need(command)
        Results.note(example, command) { assert_answer(command, example, request, body) }
      end
    end
  end

  private

  def assert_answer(command, example, request, body)
    OpalProcess.open(command, app: File.join(ServerProcess::ROOT, "examples", example, "config.ru")) do |server|
      response = RawClient.request(server.port, request)
      assert_equal 200, response.status, server.lines.join
      assert_match body, response.body.b
      assert_equal 0, server.stop.exitstatus, server.lines.join
    end
  end
end

Minitest.after_run { Results.write } if ENV["OPAL_TABLE"]
