# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/lingering_children"

# A child process that the application has forked has every client's connection open, too: what the server ends is to end all the same.
class ShutdownWithForkedChildTest < Minitest::Test
  include LingeringChildren

  LINE = "GET / HTTP/1.1\r\n"

  # The children end after the server.
  def each_server(*arguments, modes: MODES)
    each_backend_and_mode(modes) do |backend, mode|
      with_pipe do |environment|
        all = ["--backend", backend, "--mode", mode, "--keep-alive-timeout", "0.5", *arguments]
        ServerProcess.open(*all, app: "lingering_children.ru", environment: environment) { |server| yield server }
      end
    end
  end

  def test_a_connection_that_is_kept_too_long_ends
    each_server do |server|
      RawClient.open(server.port) do |client|
        client.write("#{LINE}Host: a\r\n\r\n")
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

  # A client that is late with its request.
  def test_a_server_that_does_not_wait_any_longer_tells_who_has_no_answer
    each_server("--drain-timeout", "0.2") do |server|
      RawClient.open(server.port) do |late|
        late.write(LINE)
        assert_equal "answer", RawClient.get(server.port, "/").body
        server.stop
        assert_predicate late, :closed?
      end
    end
  end

  # And one whose answer is late: where an application's thread has the request, the server is left to the end of the process.
  def test_a_server_that_does_not_wait_any_longer_for_its_application_tells_its_clients
    each_server("--drain-timeout", "0.2", modes: MODES - ["inline"]) do |server|
      RawClient.open(server.port) do |client|
        client.write("GET /long HTTP/1.1\r\nHost: a\r\n\r\n")
        RawClient.get(server.port, "/")
        server.stop
        assert_predicate client, :closed?
      end
    end
  end
end
