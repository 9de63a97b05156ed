# frozen_string_literal: true

require_relative "../test_helper"

# Connections that an application takes over.
class HijackTest < Minitest::Test
  def serve(modes = MODES)
    each_backend_and_mode(modes) do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode, *ServerProcess::PATIENT, app: "hijack.ru") { |server| yield server }
    end
  end

  def ask(client, path, headers = "")
    client.write("GET #{path} HTTP/1.1\r\nHost: a\r\n#{headers}\r\n")
  end

  # Of so many, one has just filled what the kernel takes for it when the hijack comes.
  def test_clients_that_do_not_read_their_answers_keep_nobody_waiting
    serve(%w[fibers threads:1 inline]) do |server|
      greedy = Array.new(30) { |number| ask_much(server, 2 * (number + 1)) }
      Timeout.timeout(30) { 2.times { assert_equal "small", RawClient.get(server.port, "/small").body } }
      server.await(/the connection cannot be hijacked/)
    ensure
      greedy&.each(&:close)
    end
  end

  def ask_much(server, count, last = "/full")
    RawClient.new(server.port, ahead: 4096).tap do |client|
      count.times { ask(client, "/large") }
      ask(client, last)
    end
  end

  # Whatever becomes of the hijack. Of so many, the kernel holds all answers of some, and has no more room for some.
  def test_answers_before_a_hijack_reach_a_client_that_is_slow
    serve(%w[fibers threads:5 inline]) do |server|
      slow = Array.new(20) { |number| ask_much(server, 2 * (number + 1), "/in_order") }
      server.await(/the connection cannot be hijacked/)
      slow.each(&:catch_up).each_with_index do |client, number|
        (2 * (number + 1)).times { assert_equal 100_000, client.response&.body&.bytesize }
        assert_includes ["ends in order", "500 Internal Server Error\n"], client.response&.body
      end
    ensure
      slow&.each(&:close)
    end
  end

  def test_a_client_that_reads_its_answers_is_given_to_the_application_after_them
    serve do |server|
      RawClient.open(server.port) do |client|
        3.times { ask(client, "/small") }
        ask(client, "/full")
        3.times { assert_equal "small", client.response.body }
        assert_equal "hijacked", client.response.body
        assert_predicate client, :closed?
      end
    end
  end

  # As mode inline does on the stack of who hijacks, to which the loop refers until it is done.
  def test_turns_of_the_loop_that_fail_end_no_hijack_halfway
    serve(%w[inline]) do |server|
      3.times { assert_equal "hijacked", RawClient.get(server.port, "/without_descriptors").body }
      assert_equal "small", RawClient.get(server.port, "/small").body
      assert_predicate server.stop, :success?
    end
  end

  # RFC 9110, section 15.2.2: what comes next is of another protocol, both ways.
  def test_a_callable_body_of_a_101_speaks_with_the_client
    serve do |server|
      RawClient.open(server.port) do |client|
        ask(client, "/switch", "Connection: upgrade\r\nUpgrade: echo\r\n")
        client.write("ahead ")
        head = client.socket.gets("\r\n\r\n")
        assert_match(/\AHTTP\/1\.1 101 Switching Protocols\r\n/, head)
        assert_equal ["upgrade: echo", "Connection: upgrade"].sort, head.lines(chomp: true).grep(/upgrade/i).sort
        client.write("and after")
        client.socket.close_write
        assert_equal "ahead and after", client.read_all
      end
    end
  end

  # An answer of the server's own to HTTP/1.0 does otherwise while it is not whole.
  def test_a_hijacked_connection_ends_as_the_application_ends_it
    serve do |server|
      RawClient.open(server.port) do |client|
        client.write("GET /in_order HTTP/1.0\r\n\r\n")
        assert_match(/\r\n\r\nends in order\z/, client.read_all)
      end
    end
  end

  def test_a_hijacker_that_raises_closes_the_connection
    serve do |server|
      RawClient.open(server.port) do |client|
        ask(client, "/raises")
        assert_match(/\AHTTP\/1\.1 200 OK\r\n.*\r\n\r\nbegun\z/m, client.read_all)
        server.await(/on purpose/)
      end
    end
  end

  def test_a_worker_that_is_killed_as_it_hijacks_is_replaced
    serve(%w[threads:1]) do |server|
      3.times { assert_equal "", RawClient.get(server.port, "/killed").body }
      assert_equal "small", RawClient.get(server.port, "/small").body
      assert_predicate server.stop, :success?
      refute_match(/IOError/, server.lines.join)
    end
  end

  def test_a_hijacker_that_raises_ends_the_connection_that_a_child_process_has_too
    serve do |server|
      RawClient.open(server.port) do |client|
        ask(client, "/raises_beside_a_child")
        assert_match(/\r\n\r\n\z/, client.read_all)
      end
    end
  end

  # Where the trap handler runs on the thread that hijacks.
  def test_a_child_that_is_forked_meanwhile_does_not_get_the_connection
    serve(%w[fibers inline]) do |server|
      RawClient.open(server.port) do |client|
        ask(client, "/trapped")
        assert_equal 1, client.read_all.scan("hijacked").size
      end
    end
  end

  # By which frameworks give back what belongs to the request, a database connection for one.
  def test_the_body_that_is_ignored_after_a_full_hijack_is_closed
    serve do |server|
      RawClient.open(server.port) do |client|
        ask(client, "/closes")
        assert_equal "closed", client.read_all
      end
    end
  end

  def test_an_env_that_cannot_keep_the_socket_keeps_the_connection
    serve do |server|
      RawClient.open(server.port) do |client|
        ask(client, "/iterates")
        assert_match(/can't add a new key into hash/, client.response.body)
        ask(client, "/full")
        assert_equal "hijacked", client.response.body
      end
    end
  end

  def test_a_socket_that_could_not_be_handed_over_is_closed_once
    serve(%w[fibers threads:3]) do |server|
      %w[unget for_fd].each do |place|
        RawClient.open(server.port) do |client|
          ask(client, "/loses?#{place}", "Content-Length: 0\r\n\r\nahead")
          assert_empty client.read_all
          server.await(/on purpose: all are open/)
        end
      end
      assert_equal "small", RawClient.get(server.port, "/small").body
    end
  end

  def test_a_throw_through_a_hijack_reaches_its_catch
    serve do |server|
      RawClient.open(server.port) do |client|
        ask(client, "/throws")
        assert_empty client.read_all
      end
      assert_equal "small", RawClient.get(server.port, "/small").body
    end
  end

  def test_it_is_too_late_once_the_application_has_answered
    serve do |server|
      assert_equal "rack.hijack was called after the application returned its response; call it before", RawClient.get(server.port, "/late").body
    end
  end
end
