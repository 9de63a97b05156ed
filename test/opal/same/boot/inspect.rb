# frozen_string_literal: true

# What `inspect` tells of collections, again and again; since Ruby 3.4 there are spaces about the arrow.
def told(hash)
  puts hash.inspect.gsub(" => ", "=>")
end

3.times { told("a" => "1", "b" => "2") }
%w[x y y y x].each { |value| told("a" => value, "b" => "2") }
["q\"\\\n\e", "\u00e9", "\u{1f600}", "\#{x} #x", "", "x" * 300].each { |value| 3.times { told("a" => value, value => "a") } }
[nil, true, 1, -1, 1.5, 2**40, [], [1, "a"], {}, { "a" => "1" }, $stdin, $stdout, $stderr, Object, 1..2, "a"].each do |value|
  2.times { told("a" => value, "b" => [value]) }
end
told("a" => "\xff".b)
told({})
told(1 => "a", nil => "b", [1] => "c", 1.5 => "d", "k" * 100 => "e")
p(Array.new(1300) { |number| { "key #{number}" => number.to_s, "a" => "1" }.inspect.gsub(" => ", "=>") }.uniq.join.sum)
told("a" => "1", "key 3" => "3", "key 1299" => "1299")

own = { "a" => "1" }
own["own"] = own
2.times { told(own) }
list = [own]
own["list"] = list
2.times { told(own) }
class Failing
  def inspect
    raise "not told"
  end
end
begin
  told("a" => Failing.new)
rescue RuntimeError => e
  p e.message
end
told("a" => "1", "b" => {})
told("a" => "1", "b" => { "a" => { "a" => "1" } })
text = +"changed"
hash = { "a" => text }
2.times { told(hash) }
text << "!"
told(hash)
class Named < Hash
end
told(Named.new.merge("a" => "1"))
p 0.to_s, 255.to_s(16), 0.to_s(2), -5.to_s, "#{own.size + 5} of #{-own.size}", 10.to_s(2), 3.inspect, 2.5.to_s
