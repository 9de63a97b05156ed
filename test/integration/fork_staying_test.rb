# frozen_string_literal: true

require_relative "../test_helper"

# A child process that the application has forked has every client's connection open, too: what the server ends is to end all the same.
class ForkStayingTest < Minitest::Test
  def each_server
    BACKENDS.product(MODES) do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode, "--keep-alive-timeout", "0.5", app: "staying.ru") { |server| yield server }
    end
  end

  def test_a_connection_that_is_kept_too_long_ends
    each_server do |server|
      RawClient.open(server.port) do |client|
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert_equal 200, client.response.status
        assert_predicate client, :closed?
      end
    end
  end

  def test_an_answer_that_breaks_is_reset
    each_server do |server|
      RawClient.open(server.port) do |client|
        client.write("GET /broken HTTP/1.0\r\n\r\n")
        assert_raises(Errno::ECONNRESET) { Timeout.timeout(RawClient::READ_MAX) { loop { client.socket.readpartial(1000) } } }
      end
    end
  end
end
