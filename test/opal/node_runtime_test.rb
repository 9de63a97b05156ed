# frozen_string_literal: true

require "time"
require_relative "../test_helper"
require_relative "../support/opal_runtimes"

# What only Node's adapter does itself, or lets happen: responses wait for those before them, however long these take.
class OpalNodeRuntimeTest < Minitest::Test
  include OpalRuntimes

  APP = File.expand_path("support/app.ru", __dir__)
  PATIENCE = 60 # seconds
  AN_HOUR = 3600

  def setup
    need("up_node")
  end

  def test_responses_that_take_longer_than_those_after_them
    serve do |server|
      answers = { "/" => "Hello", "/promises" => "one two 2 three", "/events" => "data: one\n\n", "/file" => File.read(APP), "/bytes" => nil }
      RawClient.open(server.port) do |client|
        client.write(pipelined(*answers.keys))
        answers.each { |path, expected| assert_equal (expected || (0..255).to_a.pack("C*")).b, client.response.body.b, path }
      end
    end
  end

  def test_a_target_with_scheme_and_host
    serve do |server|
      env = RawClient.request(server.port, "GET http://b:81/fields?c HTTP/1.1\r\nHost: a\r\n\r\n").body.lines(chomp: true)
      assert_empty ["PATH_INFO=/fields", "QUERY_STRING=c", "HTTP_HOST=b:81", "SERVER_NAME=b", "SERVER_PORT=81"] - env
      assert_equal 200, RawClient.request(server.port, "GET HTTP://b HTTP/1.1\r\nHost: a\r\n\r\n").status
    end
  end

  def test_as_many_headers_as_are_allowed
    OpalProcess.open("up_node", "--headers-max", "3000", app: APP) do |server|
      statuses = [2_998, 3_000].map do |count|
        RawClient.request(server.port, "GET / HTTP/1.1\r\nHost: a\r\n#{"X: a\r\n" * count}Connection: close\r\n\r\n").status
      end
      assert_equal [200, 431], statuses
    end
  end

  def test_hosts_and_targets_that_are_none
    upgrade = "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: #{"a" * 22}==\r\n\r\n"
    serve do |server|
      ["/ HTTP/1.1\r\nHost: a%\r\n#{upgrade}", "http://a%/ HTTP/1.1\r\nHost: a\r\n\r\n", "* HTTP/1.1\r\nHost: a\r\n\r\n"].each do |request|
        assert_equal 400, RawClient.request(server.port, "GET #{request}").status, request
      end
    end
  end

  def test_a_response_that_waits_has_no_word_for_its_client_amid_it
    content = (0..255).to_a.pack("C*")
    serve do |server|
      RawClient.open(server.port) do |client|
        expectant = "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 256\r\n\r\n"
        client.write("#{pipelined("/much")}#{expectant}".b + content)
        answers = [client.response, client.response]
        answers << client.response if answers.last.status == 100
        assert_equal content, answers.last.body.b
      end
    end
  end

  def test_a_pipelined_stream_that_fails_is_cut
    serve do |server|
      RawClient.open(server.port) do |client|
        client.write(pipelined("/", "/fails-after-flush", "/bytes"))
        assert_equal "Hello", client.response.body
        refute_match(/\r\n0\r\n\r\n|\x00\x01\x02/n, client.read_all.b)
      end
    end
  end

  def test_who_leaves_before_a_pipelined_request_has_its_turn
    serve do |server|
      RawClient.open(server.port) do |client|
        client.write(pipelined("/stays", "/file", "/stays"))
        assert_predicate client.socket.wait_readable(PATIENCE), :itself
      end
      2.times { server.await(/has left/) }
      assert_predicate server.stop, :success?, server.lines.join
    end
  end

  def test_a_connection_that_cannot_be_accepted_is_told
    serve do |server|
      assert_equal "told", RawClient.get(server.port, "/cannot-accept").body
      server.await(/cannot accept connections: the process has reached its descriptor limit \(ulimit -n\); new clients wait/)
      assert_equal "Hello", RawClient.get(server.port, "/").body
    end
  end

  def test_the_date_of_a_clock_that_is_set_back
    serve do |server|
      before = date(server)
      RawClient.get(server.port, "/sets-clock?#{-1000 * AN_HOUR}")
      assert_in_delta before - AN_HOUR, date(server), PATIENCE
    end
  end

  private

  def serve(&block)
    OpalProcess.open("up_node", app: APP, environment: { "FILE" => APP }, &block)
  end

  def date(server)
    Time.httpdate(RawClient.get(server.port, "/").headers["date"].first)
  end

  # @return [String] what asks for all of them in one packet
  def pipelined(*paths)
    paths.map { |path| "GET #{path} HTTP/1.1\r\nHost: a\r\n#{"Accept: text/event-stream\r\n" if %w[/events /stays].include?(path)}\r\n" }.join
  end
end
