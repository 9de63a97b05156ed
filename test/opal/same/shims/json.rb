# frozen_string_literal: true

require "json"

def show
  p yield
rescue StandardError => e
  p e.class
end

p JSON.parse('{"b": [1, -2, 35e-1, 0.5, null, true, false], "10": {}, "a": "é\\u00e9\\n\\"\\\\ \\ud83d\\ude00", "2": []}'), JSON.parse(" 2 "), JSON.parse('"x"'), JSON.parse("[]")
p JSON.parse('{"__proto__": {"x": 1}, "constructor": 1, "a": {"__proto__": 5}}'), JSON.parse('{"json_class": "String", "a": "^o"}')
['{"a": NaN}', '{"a":1} x', "", "nope", "{a: 1}", "[1,]", '{"a":1,}', "[1", '"a', '{"a" 1}', "[01]", "+1", "\"a\tb\"", "'a'", "<html>", '{"a":', "[1 2]", "tru"].each { |text| show { JSON.parse(text) } }
show { JSON.parse(nil) }
show { JSON.parse("#{"[" * 100}#{"]" * 100}").flatten }
show { JSON.parse("[NaN]", allow_nan: true).first.nan? }
p JSON.parse("{\"a\":\"\xC3\xA9\"}".b), JSON::ParserError.ancestors.include?(StandardError), JSON::NestingError < JSON::ParserError
[0.0 / 0, 1 / 0.0, { a: [-1 / 0.0] }].each { |value| show { JSON.generate(value) } }
show { JSON.generate("\xFF") }
show { JSON.generate(["a\xFF"]) }
deep = []
deep << deep
show { JSON.generate(deep) }
p JSON.generate({ a: :b, "c" => nil, 1 => 1, "x" => "</script>\u2028\u007f\b\f\n\r\t\u0001\"\\é😀", nil => true, d: 1.5, e: [], f: {}, g: [{ h: false }] })
p JSON.generate(nil), JSON.generate("a"), JSON.generate(1), nil.to_json, true.to_json, "é".to_json, [1, "a", nil].to_json, { a: { b: 1 } }.to_json, :a.to_json, 1.5.to_json
puts JSON.pretty_generate({ "a" => [1, { "b" => [] }], "c" => {}, "d" => "e" }), JSON.generate([1, { a: 2 }], indent: "\t", object_nl: "\n", array_nl: "\n"), JSON.pretty_generate([])
class Point
  def initialize(left, top) = (@left, @top = left, top)
  def to_json(*all) = { left: @left, top: @top }.to_json(*all)
end

class Plain
  def to_s = "plain"
end
Pair = Struct.new(:a, :b)
p JSON.generate([Point.new(1, 2), Plain.new]), Point.new(3, 4).to_json, { point: Point.new(5, 6) }.to_json, JSON.dump({ a: Float::INFINITY }), JSON.dump(nil)
p JSON.generate(Time.at(0).utc), JSON.load("[1]"), JSON.load(nil), JSON["[1]"], JSON[[1]], JSON.parse("[1.5e0]"), JSON.generate("é".b.force_encoding("UTF-8")), JSON.parse('{"a":[{"b":1}]}').dig("a", 0, "b")
require "stringio"
out = StringIO.new
JSON.dump([1], out)
p out.string, JSON.load(StringIO.new("{}")), JSON.generate("</", script_safe: true), JSON.generate("é", ascii_only: true), JSON.parse("{\"a\":1}", symbolize_names: true)[:a]
p JSON.parse(JSON.generate({ "t" => "a\u0000b", "e" => "😀" }))

# Half a character, and what is no method of everything.
p ['"\\udcc3"', '"a\\ud83dx"', '"\\ud83d\\ud83d"'].map { |text| (JSON.parse(text).bytesize rescue 3) > 2 }
p JSON.parse('"\\\\udcc3 \\ud83d\\ude00"'), %i[JSON j jj].map { |name| [Object.new.respond_to?(name), (Object.new.public_send(name, []) rescue "refused")] }, JSON([1])
p %i[raise_made method_of_class evaluate_for_instance define_method_of_block].map { |name| Class.new.respond_to?(name) }
