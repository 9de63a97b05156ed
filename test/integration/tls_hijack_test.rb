# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/tls_client"

# A hijacked connection is the application's by TLS, too, however either side lets go of it.
class TLSHijackTest < Minitest::Test
  DRAIN_SECONDS = 60 # much longer than it takes for the server to see who still has a connection
  ENDS_WITHIN = 30
  PIECE = "x" * 100_000
  PIECES = 200 # more than kernels keep

  def each_server(&block)
    BACKENDS.each do |backend|
      options = ["--backend", backend, "--mode", "threads:2", "--drain-timeout", DRAIN_SECONDS.to_s, *Certificates.options]
      ServerProcess.open(*options, app: "tls_hijack.ru", &block)
    end
  end

  def hijack(server, path)
    TLSClient.open(server.port) do |client|
      client.write("GET #{path} HTTP/1.1\r\nHost: test\r\n\r\n")
      yield client
    end
  end

  def ends_in_time(server)
    before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    assert_predicate server.stop, :success?
    assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - before, :<, ENDS_WITHIN
  end

  def test_nobody_waits_for_one_that_the_application_keeps
    each_server do |server|
      hijack(server, "/hold") do |client|
        assert_equal "held", client.socket.readpartial(100)
        ends_in_time(server)
      end
    end
  end

  def refused?(port)
    TCPSocket.new("127.0.0.1", port).close
    false
  rescue Errno::ECONNREFUSED
    true
  end

  def test_what_the_application_has_left_behind_is_waited_for
    each_server do |server|
      hijack(server, "/leaves-much") do |client|
        count = server.await(/left (\d+) bytes/)[1].to_i
        server.signal("TERM")
        await { refused?(server.port) } # it drains
        assert_equal count, Timeout.timeout(DRAIN_SECONDS) { client.read_all }.bytesize
        assert_predicate server.await_end, :success?
      end
    end
  end

  def test_nor_for_one_that_it_only_reads_from
    each_server do |server|
      hijack(server, "/half") do |client|
        assert_equal "half", client.read_all
        ends_in_time(server)
      end
    end
  end

  # Libraries set options of TCP, and ask who is at the other end.
  def test_the_socket_answers_for_the_clients
    each_server do |server|
      ["/as-a-clients", "/in-part"].each do |path|
        hijack(server, path) do |client|
          told = JSON.parse(client.read_all[/\{.*/], symbolize_names: true)
          host, port = client.tcp.local_address.ip_unpack
          assert_equal({ set: [0] * 5, keeps: true, remote: [host, port], peer: ["AF_INET", port, host, host] }, told)
        end
      end
    end
  end

  # All in one segment, so that the server has read it before the application is asked.
  def in_one_segment(client)
    client.tcp.setsockopt(:TCP, :CORK, true)
    client.write("GET /until-the-end HTTP/1.1\r\nHost: test\r\n\r\n")
    yield
    client.tcp.setsockopt(:TCP, :CORK, false)
  end

  def test_the_application_hears_of_an_end_that_came_with_the_request
    each_server do |server|
      TLSClient.open(server.port) do |client|
        in_one_segment(client) do
          client.socket.sync_close = false
          client.socket.close # says close_notify, and leaves the connection open
        end
        refute_empty Timeout.timeout(ENDS_WITHIN) { client.tcp.read }
      ensure
        client.tcp.close
      end
    end
  end

  def test_who_has_sent_what_is_no_record_cannot_be_hijacked
    each_server do |server|
      TLSClient.open(server.port) do |client|
        in_one_segment(client) { client.tcp.write("no record at all") }
        server.await(/cannot be hijacked: the client disconnected/)
      end
    end
  end

  def await
    Timeout.timeout(ENDS_WITHIN) { sleep 0.01 until yield }
  end

  # No worker waits for those that the application has for itself; the supervisor succeeds only if its workers did.
  def test_restarts_and_the_end_of_a_cluster_with_connections_taken_over
    BACKENDS.each do |backend|
      options = ["--backend", backend, "-w", "2", "--mode", "threads:2", "--drain-timeout", DRAIN_SECONDS.to_s, *Certificates.options]
      ServerProcess.open(*options, app: "tls_hijack.ru") do |server|
        before = server.read_on.workers
        until_the_end_of_those_taken_over(server) { replace_workers(server, before) }
        until_the_end_of_those_taken_over(server) { ends_in_time(server) }
        assert_empty server.lines.grep(/killing|died/)
      end
    end
  end

  def replace_workers(server, before)
    server.signal("USR1")
    await { server.workers.size == 2 && !server.workers.intersect?(before) }
    assert_includes server.workers, TLSClient.get(server.port, "/pid").body.to_i
    await { server.lines.grep(/was replaced/).size == 2 }
  end

  # Of one that has been reset there is nothing to read.
  def read_to_the_end(socket)
    Timeout.timeout(ENDS_WITHIN) { socket.read }
  rescue Errno::ECONNRESET
    nil
  end

  def until_the_end_of_those_taken_over(server)
    clients = Array.new(4) { TLSClient.new(server.port).tap { |client| client.write("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n") } }
    clients.each { |client| assert_equal "held", client.socket.readpartial(100) }
    assert_equal :wait_readable, clients.first.socket.read_nonblock(1, exception: false)
    yield
    clients.each { |client| read_to_the_end(client.tcp) }
  ensure
    clients&.each { |client| client.tcp.close }
  end

  # The request whose connection cannot be taken over is answered; nobody else notices.
  def test_no_descriptor_is_left_for_the_pair
    each_server do |server|
      hijack(server, "/hold") do |held|
        assert_equal "held", held.socket.readpartial(100)
        TLSClient.open(server.port) do |client|
          client.write("GET /without-descriptors HTTP/1.1\r\nHost: a\r\n\r\n")
          assert_match(/the connection cannot be hijacked/, client.response.body)
          client.write("GET /pid HTTP/1.1\r\nHost: a\r\n\r\n") # which goes on
          assert_equal server.pid, client.response.body.to_i
        end
        assert_nil Timeout.timeout(30) { held.socket.read_nonblock(1, exception: false) == :wait_readable ? nil : "ended" }
      end
      hijack(server, "/half") { |client| assert_equal "half", client.read_all }
    end
  end

  def test_what_the_application_does_not_want_to_read_holds_nobody_up
    each_server do |server|
      hijack(server, "/deaf") do |client|
        assert_equal "deaf", client.socket.readpartial(100)
        Timeout.timeout(ENDS_WITHIN) { PIECES.times { client.socket.syswrite(PIECE) } }
      end
    end
  end
end
