# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/websocket_case_runner"

# What RFC 6455 and RFC 7692 want of a server. FULL=1 also runs the largest cases.
class WebSocketConformanceTest < Minitest::Test
  DEFLATE = WebSocketCases::DEFLATE
  ANSWER = WebSocketCases::ANSWER
  CASES_MIN = 500
  TLS_EVERY = 18 # cases
  PROBLEMS_SHOWN = 20

  def echo_server(*options, &block)
    ServerProcess.open(*options, app: "websocket_echo.ru", &block)
  end

  def cases
    WebSocketCases.all
  end

  def assert_no_problems(problems)
    assert_equal "", problems.first(PROBLEMS_SHOWN).join("\n")
  end

  # Every mode on every backend; the default is among them.
  def variants
    MODES.product(BACKENDS)
  end

  def test_each_case_on_the_default
    assert_operator cases.size, :>, CASES_MIN
    echo_server { |server| assert_no_problems(WebSocketCaseRunner.new(server.port).problems(cases)) }
  end

  def test_each_case_somewhere_with_compression_agreed_upon
    variants.each_with_index do |(mode, backend), index|
      some = cases.select.with_index { |_, number| number % variants.size == index }
      echo_server("--mode", mode, "--backend", backend) do |server|
        assert_no_problems(WebSocketCaseRunner.new(server.port, offer: DEFLATE).problems(some))
        assert_predicate server.stop, :success?
      end
    end
  end

  def test_some_cases_by_tls
    some = cases.select.with_index { |_, number| (number % TLS_EVERY).zero? }
    echo_server(*Certificates.options) do |server|
      assert_no_problems(WebSocketCaseRunner.new(server.port, tls: true).problems(some))
    end
  end

  # RFC 7692, section 7.1. nil: nothing is agreed upon, and the WebSocket is opened all the same.
  OFFERS = {
    nil => nil,
    DEFLATE => ANSWER,
    "x-webkit-deflate-frame" => nil,
    "other; a=b; c, #{DEFLATE}" => ANSWER,
    "other; a=\"b\", #{DEFLATE}; server_max_window_bits=\"11\"" => "#{ANSWER}; server_max_window_bits=11",
    "#{DEFLATE}; server_no_context_takeover" => ANSWER,
    "#{DEFLATE}; client_no_context_takeover" => ANSWER,
    "#{DEFLATE}; server_no_context_takeover; client_no_context_takeover" => ANSWER,
    "#{DEFLATE};client_no_context_takeover;client_max_window_bits=10" => ANSWER,
    "#{DEFLATE} ;  client_max_window_bits" => ANSWER,
    "#{DEFLATE}\t;\tserver_max_window_bits=12" => "#{ANSWER}; server_max_window_bits=12",
    "#{DEFLATE}; server_no_context_takeover; server_no_context_takeover" => nil,
    "#{DEFLATE}; client_max_window_bits; client_max_window_bits=9" => nil,
    "#{DEFLATE}; server_max_window_bits=9; server_max_window_bits=9" => nil,
    "#{DEFLATE}; server_no_context_takeover=1" => nil,
    "#{DEFLATE}; client_no_context_takeover=\"\"" => nil,
    "#{DEFLATE}; server_max_window_bits" => nil,
    "#{DEFLATE}; unknown" => nil,
    "#{DEFLATE}; unknown=1, #{DEFLATE}; client_max_window_bits" => ANSWER,
    "#{DEFLATE}; server_max_window_bits=16, #{DEFLATE}; server_max_window_bits=9, #{DEFLATE}" => "#{ANSWER}; server_max_window_bits=9",
    "#{DEFLATE}\r\nSec-WebSocket-Extensions: #{DEFLATE}; server_max_window_bits=10" => ANSWER,
    "other\r\nSec-WebSocket-Extensions: #{DEFLATE}; server_max_window_bits=10" => "#{ANSWER}; server_max_window_bits=10",
    "#{DEFLATE};" => nil,
    "; #{DEFLATE}" => nil,
    "\"#{DEFLATE}\"" => nil,
    "#{DEFLATE}; server_max_window_bits=" => nil,
    "#{DEFLATE}; server_max_window_bits=\"9" => nil,
    "#{DEFLATE} server_no_context_takeover" => nil
  }.freeze
  NO_WINDOWS = ["7", "16", "08", "0", "-9", "9.0", "x", "\"\"", "99999999999"].freeze

  def test_offers_of_compression
    windows = (8..15).to_h { |bits| ["#{DEFLATE}; server_max_window_bits=#{bits}", "#{ANSWER}; server_max_window_bits=#{bits}"] }
    clients = (8..15).to_h { |bits| ["#{DEFLATE}; client_max_window_bits=#{bits}", ANSWER] }
    wrong = NO_WINDOWS.product(%w[server client]).to_h { |bits, side| ["#{DEFLATE}; #{side}_max_window_bits=#{bits}", nil] }
    echo_server do |server|
      { **OFFERS, **windows, **clients, **wrong }.each { |offer, answer| check_offer(server.port, offer, answer) }
    end
  end

  def check_offer(port, offer, answer)
    WebSocketClient.open(port, offer: offer) do |client|
      assert_equal [answer], [client.extensions], "for #{offer.inspect}"
      3.times do
        client.send_text("the same again", compress: !answer.nil?)
        assert_equal "the same again", client.receive
      end
      assert_equal 1000, client.close
      assert_predicate client, :ended?
    end
  end

  # The client's window is no larger than what was agreed upon: a message that repeats itself beyond it tells whether
  # the server's is.
  def test_windows
    echo_server do |server|
      (9..15).each do |bits|
        part = Random.new(bits).bytes(1 << (bits - 1)).unpack1("H*") + ("beyond the window" * 10)
        WebSocketClient.open(server.port, offer: "#{DEFLATE}; server_max_window_bits=#{bits}") do |client|
          2.times { check_compressed(client, part * 3) }
          assert_equal 1000, client.close
        end
      end
    end
  end

  def check_compressed(client, message)
    client.send_text(message, compress: true)
    assert_equal message, client.receive
    assert_operator client.message_bytes, :<, message.bytesize * 3 / 4
  end

  # RFC 6455, section 4.2.1: what is no handshake, is another request to the application.
  REFUSED = [
    { "Upgrade" => nil }, { "Upgrade" => "websockets" }, { "Upgrade" => "h2c" }, { "Connection" => nil }, { "Connection" => "keep-alive" },
    { "Sec-WebSocket-Version" => nil }, { "Sec-WebSocket-Version" => "8" }, { "Sec-WebSocket-Version" => "013" },
    { "Sec-WebSocket-Key" => nil }, { "Sec-WebSocket-Key" => "" }, { "Sec-WebSocket-Key" => "dGhlIHNhbXBsZSBub25j" },
    { "Sec-WebSocket-Key" => "dGhlIHNhbXBsZSBub25jZQ=" }, { "Sec-WebSocket-Key" => "dGhlIHNhbXBs!SBub25jZQ==" },
    { "Sec-WebSocket-Version" => "13\r\nSec-WebSocket-Version: 13" },
    { "Sec-WebSocket-Key" => "dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==" }
  ].freeze
  TAKEN = [
    { "Upgrade" => "WebSocket" }, { "Upgrade" => "h2c, websocket" }, { "Connection" => "keep-alive, Upgrade" }, { "Connection" => "upgrade" },
    { "Origin" => "http://example.com" }, { "Sec-WebSocket-Protocol" => "chat, superchat" }, { "Cookie" => "a=b" }
  ].freeze

  def test_handshakes
    echo_server do |server|
      REFUSED.each do |headers|
        refused = assert_raises(WebSocketClient::Refused, headers.inspect) { WebSocketClient.new(server.port, headers: headers) }
        assert_equal [426, ["13"]], [refused.response.status, refused.response.headers["sec-websocket-version"]]
      end
      TAKEN.each { |headers| check_taken(server.port, headers) }
    end
  end

  # The first message comes with the request.
  def check_taken(port, headers)
    WebSocketClient.open(port, headers: headers, ahead: WebSocketFrame.write(:text, "early")) do |client|
      assert_equal "early", client.receive
      assert_nil client.protocol
      assert_equal 1000, client.close
      assert_predicate client, :ended?
    end
  end
end
