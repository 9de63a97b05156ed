# frozen_string_literal: true

require_relative "../test_helper"

# Mode inline serves one request after another, and whatever belongs to one lasts until its body is closed; no client keeps it waiting.
class InlineModeTest < Minitest::Test
  LATE = 2 # descriptors: a pipe that Ruby opens for itself when it first needs it
  PIECE = "alice".ljust(100_000, ".")
  PIECES = PIECE * 400
  ROWS = "alice".ljust(10, ".") * 100_000

  def serve(environment = {})
    BACKENDS.each do |backend|
      options = ["--mode", "inline", "--backend", backend, *ServerProcess::PATIENT]
      ServerProcess.open(*options, app: "inline_mode.ru", environment: environment) { |server| yield server }
    end
  end

  def ask_slowly(server, path)
    RawClient.new(server.port, ahead: 4096).tap { |client| client.write("GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") }
  end

  def test_a_body_finds_what_its_request_has_left_and_nobody_else_does
    serve do |server|
      3.times do
        assert_equal '["alice", "alice"]', RawClient.get(server.port, "/who?alice").body
        assert_equal "# frozen_s", RawClient.get(server.port, "/file?alice").body
        assert_equal "nobody", RawClient.get(server.port, "/").body
      end
    end
  end

  def test_clients_that_do_not_read_keep_nobody_waiting_and_get_every_byte
    serve do |server|
      clients = { "/pieces?alice" => PIECES, "/rows?alice" => ROWS }.transform_keys { |path| ask_slowly(server, path) }
      Timeout.timeout(60) { 5.times { assert_equal "nobody", RawClient.get(server.port, "/").body } }
      clients.each { |client, whole| assert_equal whole.hash, client.catch_up.response.body.hash }
    ensure
      clients&.each_key(&:close)
    end
  end

  def test_a_child_that_is_forked_meanwhile_and_goes_on_writes_nothing
    serve do |server|
      client = ask_slowly(server, "/forks?alice")
      assert_equal "nobody", RawClient.get(server.port, "/").body
      assert_equal PIECES.hash, client.catch_up.response.body.hash
    ensure
      client&.close
    end
  end

  def test_a_graceful_stop_sends_what_is_held
    serve do |server|
      client = ask_slowly(server, "/pieces?alice")
      assert_equal "nobody", RawClient.get(server.port, "/").body
      server.signal("TERM")
      server.await(/SIGTERM/)
      assert_equal PIECES.hash, client.catch_up.response.body.hash
      client.close
      assert_predicate server.await_end, :success?
    ensure
      client&.close
    end
  end

  def test_each_piece_is_sent_before_the_next_is_made
    serve do |server|
      Dir.mktmpdir do |folder|
        RawClient.open(server.port) do |client|
          client.write("GET /paced?#{folder} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
          %w[one three].each do |piece|
            Timeout.timeout(30) { nil until client.socket.gets.include?(piece) }
            File.write("#{folder}/#{piece}", "")
          end
          assert_includes client.read_all, "four"
        end
      end
    end
  end

  # Who was behind, and reads on, gets a little that comes then, too.
  def test_a_client_that_has_caught_up_gets_each_piece
    serve do |server|
      %w[/ticks /flushes].each do |path|
        after_a_burst(server, path) do |client, folder|
          Timeout.timeout(60) { nil until client.socket.gets.include?("tick") }
          File.write("#{folder}/go", "")
          assert_match(/\A(?:[04]\r\n|\r\n|tick)*\z/, client.read_all)
        end
      end
    end
  end

  def test_a_client_that_leaves_a_trickle_is_noticed
    serve do |server|
      %w[/ticks /flushes].each do |path|
        after_a_burst(server, path) { |client, _| client.close }
        server.await(/the client of a trickle has left/)
      end
    end
  end

  def after_a_burst(server, path)
    Dir.mktmpdir do |folder|
      client = ask_slowly(server, "#{path}?#{folder}")
      Timeout.timeout(60) { sleep 0.01 until File.exist?("#{folder}/burst") }
      yield client, folder
    ensure
      client.close
    end
  end

  def test_what_comes_after_a_time_out_comes_last
    serve do |server|
      client = ask_slowly(server, "/expires")
      assert_equal "nobody", RawClient.get(server.port, "/").body
      rows = client.response.body
      assert_equal "end", rows.slice!(-3..)
      assert_equal Array.new(rows.bytesize / 10) { |i| i + 1 }, rows.split.map(&:to_i)
    ensure
      client&.close
    end
  end

  def test_one_that_goes_away_meanwhile_leaves_nothing_behind
    serve do |server|
      RawClient.get(server.port, "/")
      before = server.descriptors
      5.times { ask_slowly(server, "/pieces?alice").close }
      Timeout.timeout(60) { sleep 0.02 until server.descriptors <= before + LATE }
      assert_equal "nobody", RawClient.get(server.port, "/").body
    end
  end

  def test_a_full_disk_cuts_the_response_and_no_other
    serve("TMPDIR" => "/nowhere") do |server|
      client = ask_slowly(server, "/pieces?alice")
      server.await(/cannot store the response for a slow client/)
      assert_equal "nobody", RawClient.get(server.port, "/").body
      assert_raises(Errno::ECONNRESET, EOFError) { client.response }
    ensure
      client&.close
    end
  end

  # Nor does it pass for whole, whatever is written to it afterwards.
  def test_a_response_of_which_a_piece_was_not_held_takes_no_more
    serve("TMPDIR" => "/nowhere") do |server|
      client = ask_slowly(server, "/stubborn?alice")
      assert_match(/\A\["No such file[^"]+", "response aborted: its output could not be stored[^"]+"\]\Z/, server.await(/not taken: (.*)/)[1])
      assert_raises(Errno::ECONNRESET, EOFError) { client.response }
      assert_equal "nobody", RawClient.get(server.port, "/").body
    ensure
      client&.close
    end
  end

  def test_what_another_thread_raises_comes_between_pieces_that_are_made_without_ruby
    serve do |server|
      client = ask_slowly(server, "/cycles?alice")
      assert_equal "the time is up", server.await(/the time is up|holds no more/)[0]
      assert_equal "nobody", RawClient.get(server.port, "/").body
    ensure
      client&.close
    end
  end
end
