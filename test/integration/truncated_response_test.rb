# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"
require_relative "../support/nginx_process"

# An answer of HTTP/1.0 is over when the connection ends. So one that was cut has to end otherwise: by a reset.
class TruncatedResponseTest < Minitest::Test
  FILE_BYTES = 20_000_000
  TCP_CLOSE = 7 # see netinet/tcp.h

  def setup
    @dir = Dir.mktmpdir
  end

  def teardown
    FileUtils.rm_rf(@dir)
  end

  def each_server(*arguments, modes: MODES, **options)
    each_backend_and_mode(modes) do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode, *arguments, app: "truncated_response.ru", **options) do |server|
        yield server, mode
      end
    end
  end

  def each_static_server(*arguments)
    BACKENDS.each do |backend|
      File.binwrite(file, "x" * FILE_BYTES)
      ServerProcess.open("--backend", backend, *arguments, app: @dir, command: ["static"]) { |server| yield server }
    end
  end

  def file
    File.join(@dir, "file")
  end

  def ask(port, path, version = "1.0", rest = "")
    RawClient.new(port).tap { |client| client.write("GET #{path} HTTP/#{version}\r\nHost: a\r\n#{rest}\r\n") }
  end

  # @return [Array(String, Symbol)] what came, and how it ended
  def read(client)
    text = +""
    Timeout.timeout(60) { loop { text << client.socket.readpartial(100_000) } }
  rescue EOFError
    [text, :end]
  rescue Errno::ECONNRESET
    [text, :reset]
  ensure
    client.close
  end

  def test_a_stream_that_fails_ends_by_a_reset_and_a_whole_one_does_not
    each_server do |server|
      text, ended = read(ask(server.port, "/fails"))
      assert_equal :reset, ended
      refute_includes text, "done"
      text, ended = read(ask(server.port, "/whole"))
      assert_equal :end, ended
      assert_match(/\r\n\r\nbegun and done\z/, text)
    end
  end

  def test_orderly_ends_are_no_resets
    each_server("--keep-alive-timeout", "0.2") do |server|
      text, ended = read(ask(server.port, "/whole", "1.1", "Connection: close\r\n"))
      assert_equal [:end, "0\r\n\r\n"], [ended, text[-5..]]
      assert_equal :end, read(ask(server.port, "/whole", "1.1")).last # by the time-out
      assert_equal :end, read(ask(server.port, "/whole\0")).last # 400
      half_closed = ask(server.port, "/whole", "1.1")
      half_closed.socket.close_write
      assert_equal :end, read(half_closed).last
    end
  end

  def test_a_server_that_ends_before_the_answer_does_resets_it
    each_server("--drain-timeout", "0.2", modes: MODES - ["inline"]) do |server|
      client = ask(server.port, "/waits")
      Timeout.timeout(60) { client.socket.gets("begun") }
      server.signal("TERM")
      assert_equal ["", :reset], read(client)
    end
  end

  # By the kernel, as nobody else is there to do it: an administrator's SIGKILL, the supervisor's, the one for want of memory.
  def test_a_process_that_is_killed_resets_its_answers
    each_server do |server, mode|
      requests = { "/endless" => "1.0", "/endless?gzip" => "1.1" }.first(mode == "inline" ? 1 : 2)
      clients = requests.map { |path, version| ask(server.port, path, version) }
      clients.each { |client| client.socket.gets("begun") }
      server.kill
      assert_equal [:reset], clients.map { |client| read(client).last }.uniq
    end
  end

  def test_a_second_signal_resets_what_is_in_flight
    each_server(modes: MODES - ["inline"]) do |server|
      client = ask(server.port, "/waits")
      Timeout.timeout(60) { client.socket.gets("begun") }
      server.signal("TERM")
      server.await(/a second signal after 1 s stops the server at once/)
      server.force
      assert_equal ["", :reset], read(client)
    end
  end

  # The kernel keeps what the client has not taken yet; the server has ended by then.
  def test_a_whole_answer_is_there_for_who_takes_it_late
    each_server(modes: ["fibers"]) do |server|
      client = ask(server.port, "/more")
      client.socket.readpartial(1000)
      assert_predicate server.stop, :success?
      text, ended = read(client)
      assert_equal [:end, " and done"], [ended, text[-9..]]
      assert_operator text.bytesize, :>, 990_000
    end
  end

  def test_a_file_that_becomes_shorter_is_reset
    each_static_server do |server|
      client = ask(server.port, "/file")
      client.socket.readpartial(1000)
      File.truncate(file, 1000)
      assert_equal :reset, read(client).last
    end
  end

  def test_a_client_that_takes_nothing_finds_a_reset_when_it_looks_again
    each_static_server("--write-timeout", "0.2") do |server|
      client = ask(server.port, "/file")
      Timeout.timeout(60) { sleep 0.05 until tcp_state(client) == TCP_CLOSE }
      assert_equal :reset, read(client).last
    end
  end

  def tcp_state(client)
    client.socket.getsockopt(:TCP, Socket::TCP_INFO).data.ord
  end

  # The time-out is for silence; a client that takes an answer is not silent.
  def test_an_answer_may_take_longer_than_a_connection_may_be_silent
    each_static_server("--keep-alive-timeout", "0.2") do |server|
      client = ask(server.port, "/file", "1.1")
      bytes = slowly(client)
      assert_operator bytes, :>, FILE_BYTES
      assert_equal ["", :end], read(client)
    end
  end

  def test_so_it_may_when_the_server_stops
    each_static_server do |server|
      client = ask(server.port, "/file", "1.1")
      bytes = client.socket.readpartial(1000).bytesize
      server.signal("TERM")
      assert_operator slowly(client, bytes), :>, FILE_BYTES
      client.close
      assert_predicate server.await_end, :success?
    end
  end

  # Takes the whole file, in a second or more. Returns the bytes, those taken before included.
  def slowly(client, bytes = 0)
    while bytes <= FILE_BYTES
      bytes += client.socket.readpartial(FILE_BYTES / 50).bytesize
      sleep 0.02
    end
    bytes
  end

  def test_nginx_does_not_keep_an_answer_that_was_cut
    skip "there is no nginx" unless NginxProcess.there?
    each_server do |server|
      NginxProcess.open(server.port) do |nginx|
        states = Array.new(3) { get(nginx.port, "/fails").first }
        refute_includes states, "HIT"
        assert_equal %w[MISS HIT], Array.new(2) { get(nginx.port, "/whole").first } # it does keep what is whole
      end
    end
  end

  # @return [Array(String, String)] how the cache was used, and the answer
  def get(port, path)
    text = read(ask(port, path)).first
    [text[/^X-Cache: (\S+)/, 1], text]
  end
end
