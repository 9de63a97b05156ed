# frozen_string_literal: true

require_relative "case"

# Section 7.
module WebSocketCases
  module_function

  def closing
    close_order + close_payloads + close_codes + closed_by_application
  end

  def close_case(id, payload, code, **options)
    FrameCase.new(id, [frame(:close, payload)], code: code, closes: true, **options)
  end

  # What comes behind a close is nothing any more.
  def close_order
    normal = frame(:close, "\x03\xe8")
    first, last = fragments("fragment1", "fragment2")
    big = "BAsd7&jh23" * 26_215
    { [frame(:text, HELLO), normal] => [[:text, HELLO]],
      [normal, normal] => [],
      [normal, frame(:ping)] => [],
      [normal, frame(:text, HELLO)] => [],
      [first, normal, last] => [],
      [frame(:text, big), frame(:text, HELLO), normal, frame(:ping)] => [[:text, big], [:text, HELLO]] }
      .each.with_index(1).map do |(sent, expected), number|
        FrameCase.new("7.1.#{number}", sent, expected, code: 1000, closes: true)
      end
  end

  def close_payloads
    normal = "\x03\xe8".b
    [
      close_case("7.3.1", "", nil),
      close_case("7.3.2", "a", 1002),
      close_case("7.3.3", normal, 1000),
      close_case("7.3.4", normal + "a reason", 1000),
      close_case("7.3.5", normal + ("*" * 123), 1000),
      close_case("7.3.6", normal + ("*" * 124), 1002),
      close_case("7.5.1", normal + "#{KOSME}\xed\xa0\x80edited".b, 1007)
    ]
  end

  # Codes that may be sent are sent back; 7.13 is what no RFC speaks of.
  def close_codes
    { "7.7" => [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999],
      "7.9" => [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999],
      "7.13" => [5000, 65_535] }.flat_map do |section, codes|
      codes.each.with_index(1).map do |code, number|
        close_case("#{section}.#{number}", [code].pack("n"), section == "7.7" ? code : 1002)
      end
    end + more_close_codes
  end

  # Not on the list: what IANA has registered since, and 1015, which is never sent.
  def more_close_codes
    { 1012 => 1012, 1013 => 1013, 1014 => 1014, 1015 => 1002 }.map do |code, answer|
      close_case("close #{code}", [code].pack("n"), answer)
    end
  end

  # Not on the list: test/support/websocket_echo.ru closes when it is told to. What the client still sends is nothing to
  # it, and its pings are not answered.
  def closed_by_application
    first, last = fragments("fragment1", "fragment2")
    behind = [frame(:ping, "late"), frame(:text, "late"), frame(:text, "close 3002 late")]
    { "1000" => [], "3001 because" => [], "4999 #{"*" * 123}" => [], "1001 \u00e4" => behind, "1011" => [first, behind.first, last] }
      .map do |close, sent|
        code = close.to_i
        told = [:close, close.split(" ", 2)[1].to_s, code]
        FrameCase.new("closed by the application: #{code}",
                      [frame(:text, "close #{close}"), told, [*sent, frame(:close, [code].pack("n"))].join], code: Case::OVER)
      end
  end
end
