# frozen_string_literal: true

require_relative "../test_helper"

# Frameworks give back what belongs to a request in `rack.response_finished`: so it is called on the request's own thread and fiber, once, before
# another request is served there.
class ResponseFinishedTest < Minitest::Test
  def serve(modes = MODES)
    each_backend_and_mode(modes) do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode, app: "response_finished.ru") { |server| yield server, mode }
    end
  end

  # @return [Array<String>] what was told, as soon as there is as much
  def told(server, count)
    lines = []
    Timeout.timeout(30) { lines += RawClient.get(server.port, "/told").body.split("\n") until lines.size >= count }
    lines
  end

  def test_the_last_is_called_first_where_the_request_was_served
    serve do |server|
      assert_equal "whole", RawClient.get(server.port, "/whole").body
      assert_equal ["last true 200 whole NilClass", "first true 200 whole NilClass"], told(server, 2)
    end
  end

  def test_errors_are_told
    serve do |server|
      assert_equal 500, RawClient.get(server.port, "/raises").status
      assert_equal ["raises true 500  RuntimeError"], told(server, 1)
      assert_equal 200, RawClient.get(server.port, "/raises-in-callback").status
      server.await(/in the callback/)
      assert_equal ["others true 200 callback NilClass"], told(server, 1)
    end
  end

  # Whichever class it is asked for: Net::HTTP has its own.
  def test_a_timeout_strikes_there_and_in_the_body_s_close
    serve do |server|
      assert_equal "whole", RawClient.get(server.port, "/times-out").body
      assert_equal ["close KeyError", "callback Finishing::Late"], told(server, 2)
    end
  end

  def test_a_client_that_leaves_is_told
    serve(%w[fibers threads:3]) do |server|
      RawClient.open(server.port) do |client|
        client.write("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
        client.socket.readpartial(1000)
      end
      assert_equal ["endless true 200 endless Errno::EPIPE"], told(server, 1)
    end
  end

  def test_the_response_does_not_wait_for_the_callbacks
    serve do |server|
      Dir.mktmpdir do |folder|
        assert_equal "at once", RawClient.get(server.port, "/held-callback?#{folder}/go_on").body
        FileUtils.touch("#{folder}/go_on")
        assert_equal ["held"], told(server, 1)
      end
    end
  end

  def test_it_is_called_after_a_hijack_too
    serve do |server|
      RawClient.open(server.port) do |client|
        client.write("GET /hijacked HTTP/1.1\r\nHost: a\r\n\r\n")
        assert_predicate client, :closed?
      end
      assert_match(/\Ahijacked true/, told(server, 1).first)
    end
  end

  def test_a_graceful_stop_waits_for_the_callbacks
    serve do |server|
      RawClient.get(server.port, "/slow-callback")
      assert_equal 0, server.stop.exitstatus
      assert_includes server.lines.join, "the slow callback has ended"
    end
  end

  def test_a_connection_that_the_application_keeps_holds_the_end_back_no_longer_than_the_deadline
    %w[fibers threads:3].each do |mode|
      ServerProcess.open("--mode", mode, "--drain-timeout", "0.5", app: "response_finished.ru") do |server|
        RawClient.open(server.port) do |client|
          client.write("GET /session HTTP/1.1\r\nHost: a\r\n\r\n")
          client.socket.gets("session")
          server.stop
          assert_equal "", client.read_all
        end
      end
    end
  end

  # Each gives the request back from another thread than the loop's.
  def test_many_at_once
    serve(%w[fibers threads:3]) do |server|
      Array.new(8) do
        Thread.new do
          RawClient.open(server.port) do |client|
            100.times do
              client.write("GET /whole HTTP/1.1\r\nHost: a\r\n\r\n")
              assert_equal "whole", client.response.body
            end
          end
        end
      end.each(&:join)
      lines = told(server, 1600)
      assert_equal [1600, 800], [lines.size, lines.tally["first true 200 whole NilClass"]]
    end
  end
end
