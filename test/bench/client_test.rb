# frozen_string_literal: true

require "minitest/autorun"
require "timeout"
require_relative "../../bench/lib/client"

# Against a peer that says what the test tells it to.
class BenchClientTest < Minitest::Test
  HELLO = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

  def setup
    @listener = TCPServer.new("127.0.0.1", 0)
    @client = Bench::Client.new(@listener.addr[1])
    @peer = @listener.accept
  end

  def teardown
    [@listener, @peer].each(&:close)
    @client.close
  end

  def test_an_answer_of_known_length
    @peer.write(HELLO)

    assert_equal "hello", @client.answer
  end

  def test_pipelined_answers_come_one_by_one
    @peer.write(HELLO + HELLO.sub("hello", "world"))

    assert_equal %w[hello world], [@client.answer, @client.answer]
  end

  def test_chunks_are_joined_and_what_follows_is_kept
    @peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\na\r\nlo, world!\r\n0\r\n\r\n#{HELLO}")

    assert_equal "hello, world!", @client.answer
    assert_equal "hello", @client.answer
  end

  def test_an_answer_in_pieces_is_waited_for
    waits = 0
    client = Bench::Client.new(@listener.addr[1]) do |socket, event|
      waits += 1
      @pieces.shift.then { |piece| @late_peer.write(piece) } if event == IO::READABLE
      socket.wait(event, 5)
    end
    @late_peer = @listener.accept
    @pieces = HELLO.scan(/.{1,9}/m)

    assert_equal "hello", client.answer
    assert_operator waits, :>, 4
  ensure
    [client, @late_peer].each(&:close)
  end

  def test_any_other_status_is_an_error
    @peer.write("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")

    assert_match(/503/, assert_raises(Bench::Client::Error) { @client.answer }.message)
  end

  def test_an_answer_cut_short_is_an_error
    @peer.write(HELLO.chop)
    @peer.close_write

    assert_raises(Bench::Client::Error) { @client.answer }
  end

  def test_waiting_in_vain_is_an_error
    client = Bench::Client.new(@listener.addr[1]) { |_socket, event| event == IO::WRITABLE || nil }

    assert_match(/nothing happened/, assert_raises(Bench::Client::Error) { client.answer }.message)
  ensure
    client.close
  end

  def test_more_is_written_than_the_socket_takes_at_once
    text = "x" * 8_000_000
    reader = Thread.new { @peer.read(text.bytesize) }
    @client.write(text)

    assert_equal text.bytesize, Timeout.timeout(60) { reader.value }.bytesize
  end

  def test_close_is_seen_as_an_end_and_reset_as_a_reset
    client = Bench::Client.new(@listener.addr[1])
    peer = @listener.accept
    client.close

    assert_nil Timeout.timeout(60) { peer.getc }
    @client.reset
    assert_raises(Errno::ECONNRESET) { Timeout.timeout(60) { @peer.getc } }
    @client = Bench::Client.new(@listener.addr[1])
  ensure
    peer.close
  end

  def test_half_close_still_reads
    @client.half_close

    assert_nil Timeout.timeout(60) { @peer.getc }
    @peer.write(HELLO)
    assert_equal "hello", @client.answer
  end

  def test_nobody_listens
    port = TCPServer.open("127.0.0.1", 0) { |listener| listener.addr[1] }

    assert_raises(Errno::ECONNREFUSED) { Bench::Client.new(port) }
  end
end
