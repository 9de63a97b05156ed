# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"
require_relative "support/readme_results_table"

# Each example under each command. With OPAL_TABLE=1 the results are written into the README.
class OpalExamplesTest < Minitest::Test
  include OpalRuntimes

  BODY = "sm\u00F8rrebr\u00F8d \u0000\xFF".b
  # An exchange with an example: a request, the status, the location and the body of its response.
  Exchange = Struct.new(:request, :status, :location, :body)

  # @return [Exchange]
  def self.exchange(line, body, status: 200, location: nil, content: nil)
    head = "#{line} HTTP/1.1\r\nHost: localhost:1\r\nX-Name: value\r\n"
    head += "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: #{content.bytesize}\r\n" if content
    Exchange.new("#{head}\r\n".b + content.to_s.b, status, location, body)
  end

  # By the example's name.
  EXAMPLES = {
    "hello" => [exchange("GET /", /\AHello from Upwell\n\z/)],
    "env" => [exchange("GET /path?a=b",
                       /^HTTP_X_NAME "value"\n(?:.*\n)*PATH_INFO "\/path"\nQUERY_STRING "a=b"\n.*REQUEST_METHOD "GET"\n/m)],
    "echo" => [exchange("POST /", /\A#{Regexp.escape(BODY)}\z/n, content: BODY)],
    "pages" => [exchange("GET /", /<h1>Start<\/h1>\n<p>This is the answer to GET\.<\/p>\n/),
                exchange("POST /", /answer to POST\./, content: ""),
                exchange("GET /about", /<h1>About<\/h1>/),
                exchange("GET /missing", /<h1>Not found<\/h1>/, status: 404)],
    "roda" => [exchange("GET /", /\AHello from Roda on Upwell\n\z/),
               exchange("GET /greeting", /\AHello\n\z/),
               exchange("GET /greeting/world", /\AHello, world\n\z/),
               exchange("POST /greeting", /\A\z/, status: 302, location: "/greeting/world", content: "name=world"),
               exchange("GET /missing", /\A\z/, status: 404)],
    "sinatra" => [exchange("GET /", /\AHello from Sinatra on Upwell\n\z/),
                  exchange("GET /greeting/world", /\AHello, world\n\z/),
                  exchange("POST /greeting", /\A\z/, status: 303, location: "http://localhost:1/greeting/world", content: "name=world"),
                  exchange("GET /missing", /\ANo page has this address\n\z/, status: 404)]
  }.freeze

  EXAMPLES.each do |example, exchanges|
    OpalProcess.commands.each do |command|
      define_method("test_#{example}_under_#{command}") do
        need(command)
        ReadmeResultsTable.note(example, command) { check(command, example, exchanges) }
      end
    end
  end

  private

  def check(command, example, exchanges)
    OpalProcess.open(command, app: File.join(ServerProcess::ROOT, "examples", example, "config.ru")) do |server|
      exchanges.each { |exchange| assert_answer(RawClient.request(server.port, exchange.request), exchange) }
      assert_equal 0, server.stop.exitstatus, server.lines.join
    end
  end

  def assert_answer(response, exchange)
    line = exchange.request.lines.first
    assert_equal [exchange.status, exchange.location], [response.status, response.headers["location"]&.first], line
    assert_match exchange.body, response.body.b, line
  end
end

Minitest.after_run { ReadmeResultsTable.write } if ENV["OPAL_TABLE"]
