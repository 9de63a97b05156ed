# frozen_string_literal: true

require_relative "../test_helper"

# Threads and fibers that the application ends, wherever they are: the server goes on, and nothing stays behind.
class KilledThreadsTest < Minitest::Test
  def serve(modes)
    each_backend_and_mode(modes) do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode, app: "killed_threads.ru") do |server|
        yield server
        assert_equal "plain", RawClient.get(server.port, "/plain").body
        assert_equal 0, server.stop.exitstatus, server.lines.join
      end
    end
  end

  def test_worker_threads_that_end_are_replaced
    serve(%w[threads:2]) do |server|
      %w[/exits /interrupts /exits /interrupts /exits].each { |path| assert_equal 500, RawClient.get(server.port, path).status }
    end
  end

  def test_a_body_whose_close_ends_its_thread_does_so_and_the_rest_is_told
    serve(%w[threads:1]) do |server|
      before = RawClient.get(server.port, "/thread").body
      assert_equal "plain", RawClient.get(server.port, "/exits_in_close").body
      after = RawClient.get(server.port, "/thread").body
      assert_match(/ nil\z/, before)
      assert_match(/ true\z/, after)
      refute_equal before.to_i, after.to_i
    end
  end

  def test_a_body_whose_close_exits_ends_its_request_alone
    each_backend_and_mode(%w[inline fibers]) do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode, app: "killed_threads.ru") do |server|
        2.times { assert_equal "plain", RawClient.get(server.port, "/exits_in_close").body }
        server.await(/Error during GET \/exits_in_close: .*exit \(SystemExit\)/)
      end
    end
  end

  def test_a_fiber_that_is_raised_into_when_it_rests_ends_alone
    serve(%w[fibers]) do |server|
      3.times do
        assert_equal "plain", RawClient.get(server.port, "/strikes_late").body
        sleep 0.1 # when it rests
      end
    end
  end

  def test_a_body_that_goes_on_without_a_refused_piece_is_too_short
    serve(MODES) do |server|
      RawClient.open(server.port) do |client|
        client.write("GET /short HTTP/1.1\r\nHost: a\r\n\r\nGET /plain HTTP/1.1\r\nHost: a\r\n\r\n")
        assert_match(/\r\n\r\nabc\z/, client.read_all)
      end
    end
  end

  def test_a_hijacker_that_is_killed_leaves_no_connection_behind
    serve(%w[fibers threads:3]) do |server|
      RawClient.get(server.port, "/plain")
      before = server.descriptors
      5.times do
        RawClient.open(server.port) do |client|
          client.write("GET /kills_hijacker HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
          client.read_all
        end
      end
      Timeout.timeout(30) { sleep 0.02 until server.descriptors <= before + 1 }
    end
  end

  def test_a_writer_that_is_killed_while_it_waits_leaves_nothing_to_be_told
    serve(%w[fibers threads:3]) do |server|
      client = RawClient.new(server.port)
      client.write("GET /kills_writer HTTP/1.1\r\nHost: a\r\n\r\n")
      sleep 0.4 # the writer has been killed by then
      client.socket.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii"))
      client.close
    end
  end
end
