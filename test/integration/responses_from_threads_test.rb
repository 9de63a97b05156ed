# frozen_string_literal: true

require_relative "../test_helper"

# Responses and connections that an application gives to threads of its own: each client gets its own bytes, all of them, in order.
class ResponsesFromThreadsTest < Minitest::Test
  LINES = 200 # ResponsesFromThreads::LINES
  CLIENTS = 12
  ROUNDS = 3

  def serve(modes = %w[fibers threads:3])
    each_backend_and_mode(modes) do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode, app: "responses_from_threads.ru") do |server|
        yield server
        assert_equal 0, server.stop.exitstatus, server.lines.join
      end
    end
  end

  def ask_all(server, path)
    ROUNDS.times do |round|
      Array.new(CLIENTS) do |number|
        Thread.new { ask(server, path, "client-#{round}-#{number}") { |*answer| yield(*answer) } }
      end.each(&:join)
    end
  end

  # Yields the name of the client and what came, to a request and to another after it on the same connection.
  def ask(server, path, name)
    RawClient.open(server.port) do |client|
      client.write("GET #{path}?#{name} HTTP/1.1\r\nHost: a\r\n\r\nGET /plain?#{name} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      yield name, client.read_all
    end
  end

  def lines_of(name, count)
    Array.new(count) { |line| "#{name} #{line}\n" }.join
  end

  def parts(text)
    text.split(/(?=HTTP\/1\.1 )/)
  end

  def decode(chunked)
    head, body = chunked.split("\r\n\r\n", 2)
    [head, body.scan(/^\h+\r\n(.*?)\r\n/m).join]
  end

  def assert_streamed(path)
    serve do |server|
      ask_all(server, path) do |name, text|
        streamed, plain = parts(text)
        head, body = decode(streamed)
        assert_equal [name, lines_of(name, LINES)], [head[/x-client: (.*)\r?$/, 1].to_s.chomp, body]
        assert_match(/\r\nx-client: #{name}\r\n.*\r\n\r\n#{name}\n\z/m, plain)
      end
    end
  end

  def test_a_thread_writes_to_the_stream
    assert_streamed("/stream")
  end

  def test_several_threads_write_to_the_stream_by_turns
    assert_streamed("/stream-by-turns")
  end

  def test_the_block_of_each_is_called_in_a_thread
    assert_streamed("/each")
  end

  def assert_only_own(path)
    serve do |server|
      ask_all(server, path) do |name, text|
        assert_equal [name], text.scan(/client-\d+-\d+/).uniq, text
        assert_match(/#{name}\n\z/, text)
      end
    end
  end

  def test_what_a_thread_does_after_the_end_reaches_nobody
    %w[/stream-too-long /late-hints /slow-hints /late-hijack].each { |path| assert_only_own(path) }
  end

  def test_hints_from_a_thread_come_before_the_response
    serve(%w[fibers threads:3 inline]) do |server|
      ask_all(server, "/hints") do |name, text|
        hints, again, response, plain = parts(text)
        assert_equal ["HTTP/1.1 103 Early Hints\r\nlink: <#{name}>\r\n\r\n"] * 2, [hints, again]
        [response, plain].each { |answer| assert_match(/\AHTTP\/1\.1 200 .*\r\n\r\n#{name}\n\z/m, answer) }
      end
    end
  end

  def test_a_thread_hijacks
    serve do |server|
      ask_all(server, "/hijack") do |name, text|
        assert_match(/\AHTTP\/1\.1 200 OK\r\nx-client: #{name}\r\n.*\r\n\r\n#{name}\n\z/m, text)
        assert_equal 1, parts(text).size
      end
    end
  end

  def test_in_mode_inline_threads_are_told_that_they_cannot
    serve(%w[inline]) do |server|
      %w[/refused-hijack /refused-write].each { |path| assert_match(/in mode inline only the thread/, RawClient.get(server.port, path).body) }
    end
  end
end
