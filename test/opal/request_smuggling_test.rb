# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"
require_relative "../support/raw_client"
require_relative "../support/request_smuggling_cases"

# Requests of which a proxy may see another end, or another host, are refused by each command, and nothing behind them is read.
module SmugglingTests
  include OpalRuntimes

  APP = File.expand_path("support/request_line_echo.ru", __dir__)

  def setup
    need(command)
  end

  def test_each_is_refused_and_its_connection_closed
    different = RequestSmugglingCases::ANSWERS.fetch(command)
    seen = RequestSmugglingCases::ALL.to_h { |name, text| [name, different[name] == 200 ? 200 : answer_to(text, held: different[name] == :nothing)] }
    expected = RequestSmugglingCases::ALL.keys.to_h { |name| [name, different.fetch(name, 400)] }
    assert_equal expected, seen
  end

  def test_nothing_behind_them_is_served
    harmless = RequestSmugglingCases::SPACES + RequestSmugglingCases::TARGETS # whose end is not in doubt
    texts = RequestSmugglingCases::ALL.except(*harmless)
    served = texts.select { |_name, text| sent_all(text + RequestSmugglingCases::SMUGGLED).include?("/smuggled") }
    assert_empty served.keys
  end

  def test_the_runtime_does_not_see_what_is_wrong_with_these
    read = RequestSmugglingCases::ANSWERS.fetch(command).select { |_name, answer| answer == 200 }
    read.each_key { |name| assert_equal 200, RawClient.request(port, RequestSmugglingCases::ALL[name]).status, name }
  end

  # What was behind the last chunk may come late.
  def test_a_chunked_request_may_be_the_last_of_its_connection
    %w[/echo /flushes].each do |path|
      RawClient.open(port) do |client|
        client.write("POST #{path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n#{RequestSmugglingCases::CHUNKS}")
        response = client.response
        assert_equal [200, "POST #{path}"], [response.status, response.body]
        assert_equal (command == "up"), response.headers["connection"].to_a.include?("close"), path
      end
    end
  end

  private

  # @return [Integer, Symbol] the status of the one answer, or :nothing
  def answer_to(text, held:)
    statuses = sent_all(text, held: held).scan(/^HTTP\/1\.1 (\d{3})/).flatten
    return statuses unless statuses.size < 2

    statuses.empty? ? :nothing : statuses.first.to_i
  end

  # Sends it, and reads to the connection's end. Where no end would come for long, the client ends it.
  def sent_all(text, held: RequestSmugglingCases::ANSWERS.fetch(command).value?(:nothing))
    RawClient.open(port) do |client|
      client.write(text)
      client.socket.close_write if held
      client.read_all
    end
  rescue Errno::EPIPE, Errno::ECONNRESET, Errno::ENOTCONN
    ""
  end
end

RequestSmugglingCases::ANSWERS.each_key do |name|
  servers = {}
  Minitest.after_run { servers.each_value(&:end_all) }

  Object.const_set("SmugglingOn#{name.capitalize.tr("_", "")}Test", Class.new(Minitest::Test) do
    include SmugglingTests

    define_method(:command) { name }
    define_method(:port) { (servers[:one] ||= OpalProcess.new(app: SmugglingTests::APP, command: [name])).port }
  end)
end
