# frozen_string_literal: true

require_relative "../test_helper"

# An application that forks within a request: the child has none of the server's threads, and none of its connections. It ends when it has
# done what the application wanted of it, and the client gets its answer from the parent, once.
class ForkTest < Minitest::Test
  STATUSES = { block: 0, exit: 3, abort: 1, raise: 1, exec: 1, thread: 4, timeout: 5, answer: 1, hijack: 1, hints: 1 }.freeze
  ANSWER_MAX = 15 # seconds

  def serve(backend, mode)
    environment = mode == "inline" ? { "INLINE" => "1" } : {}
    ServerProcess.open("--backend", backend, "--mode", mode, app: "forking.ru", environment: environment) { |server| yield server.read_on }
  end

  # While a thread of the application waits for a client that does not read.
  def with_slow_client(server)
    RawClient.open(server.port) do |client|
      client.write("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
      client.socket.readpartial(100)
      yield
    end
  end

  def ask(server, what)
    RawClient.open(server.port) do |client|
      client.write("GET /#{what} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      Timeout.timeout(ANSWER_MAX) { client.read_all }
    end
  rescue Timeout::Error
    "no answer"
  end

  BACKENDS.product(MODES) do |backend, mode|
    define_method(:"test_the_child_of_a_request_ends_with_#{backend}_in_mode_#{mode.tr(":", "_")}") do
      serve(backend, mode) do |server|
        with_slow_client(server) do
          STATUSES.each do |what, status|
            assert_equal "#{what}: #{status}", ask(server, what)[/\AHTTP\/1\.1 200 (?:(?!HTTP\/1\.1).)*\r\n\r\n\K.*\z/m], server.lines.join
          end
          assert_match(/\r\n\r\nhere\z/, ask(server, "here"))
        end
        assert_equal 0, server.stop.exitstatus, server.lines.join
      end
    end
  end
end
