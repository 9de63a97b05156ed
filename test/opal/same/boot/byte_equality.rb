# frozen_string_literal: true

require "cgi"
require "erb"

# Bytes are not text, and text put through what escapes it stays what it is.
p "\xE9".b == "é", "é" == "\xE9".b, "\xE9".b == "\xE9".b, "\xE9".b.eql?("é"), "a".b == "a", "a" == "a".b, "a".b.eql?("a"), "\xC3\xA9".b == "Ã©", ["\xFF".b].include?("ÿ"), "é".b == "é", "\xE9".b != "é"
p "é" == "é".dup, "é".dup == "é", :é == :é, "é".eql?("é"), "a" == 1, "a" == nil, "\xE9".b === "é", ["\xE9".b] == ["é"], "\xE9".b.equal?("é")
case "\xE9".b
when "é" then p :text
when "\xE9".b then p :bytes
end
[CGI.method(:escapeHTML), ERB::Util.method(:html_escape), CGI.method(:unescapeHTML)].each do |escape|
  ["<\xFF&amp;".b, "<é&amp;", "<a>".b, "plain", "&#233;&#x41;&lt;".b].each { |text| p [escape.call(text), escape.call(text).encoding, escape.call(text).bytes.size] }
end
h = { "\e" => 1, "\a" => 2, "\xE9" => 3, "\b" => 4, "😀" => 5, "\u2028" => 6, '#{x}' => 7, "\v" => 8, "\0" => 9, "é": 10, "a\e": 11 }
p h.keys.map { |name| name.to_s.bytes }, h["\e"], h["\xE9"], h["😀"]
key = "k"
p({ "\e" => 1, key => 2, "\a": 3, [1] => 4, "\xFF" => 5 }.map { |name, value| [name.to_s, value] })
case "\e"
when "e" then p :e
when "\e" then p :escape
end
p "YQ".unpack1("m"), "Y Q = =".unpack1("m"), "_-8=".unpack1("m"), ["YR==", "YQ=", "-_-_", "YW Jj"].map { |text| text.unpack1("m0") rescue $!.class }
