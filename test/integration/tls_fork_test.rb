# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/tls_client"

# Processes that are started within a request by TLS: they have the keys, and the connection, and must not say a word there. OpenSSL at the
# client sees each record that is not the next one.
class TLSForkTest < Minitest::Test
  WAYS = %w[/exit /exit-at-once /without-a-block /exec /killed /system /popen /spawn].freeze
  ENDS_WITHIN = 30 # seconds
  ROUNDS = 2

  def each_server
    each_backend_and_mode do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode, *Certificates.options, app: "tls_fork.ru") do |server|
        yield server.read_on, mode
        assert_predicate server.stop, :success?
      end
    end
  end

  def ask(client, path, headers = "")
    client.write("GET #{path} HTTP/1.1\r\nHost: a\r\n#{headers}\r\n")
    client.response.body
  end

  def test_a_kept_connection_goes_on_whatever_the_children_do
    each_server do |server, mode|
      TLSClient.open(server.port) do |client|
        ROUNDS.times do
          [*WAYS, "/stream"].each { |path| assert_equal path, ask(client, path), "#{mode}: #{server.lines.join}" }
        end
        assert_equal "/last", ask(client, "/last", "Connection: close\r\n")
        assert_equal "", Timeout.timeout(ENDS_WITHIN) { client.read_all } # with close_notify, or OpenSSL complains
      end
    end
  end

  # The child has the descriptor, too.
  def test_the_client_sees_the_end_though_a_child_stays
    each_server do |server, mode|
      TLSClient.open(server.port) do |client|
        child = Integer(ask(client, "/staying", "Connection: close\r\n"))
        assert_equal "", Timeout.timeout(ENDS_WITHIN) { client.read_all }, mode
        Process.kill("KILL", child)
        assert_equal "/next", TLSClient.get(server.port, "/next").body
      end
    end
  end
end
