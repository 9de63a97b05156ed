# frozen_string_literal: true

# $~ and $1 are a method's own.
def other(text) = text =~ /(z)/

def called_between
  return unless "user-42" =~ /(\w+)-(\d+)/

  other("z")
  first = $1
  other("nothing")
  [first, $2, $~[0], $`, $', $&]
end
p called_between

def asked(text)
  case text
  when /\Ap(.)/ then [other("z"), $1]
  when "x" then [$1]
  when /q(.)/
    other("z")
    [$1, Regexp.last_match(1), Regexp.last_match.pre_match]
  end
end
p asked("po"), asked("aqb"), asked("none")

def in_blocks
  found = %w[a b1 c2].find { |one| one =~ /([a-z])(\d)/ }
  other("z")
  [found, $1, $2]
end
p in_blocks

def replaced(text)
  text.gsub(/%(\h\h)/) { other("z") && $1.hex.chr }
end
p replaced("%41b%43")

def nested
  "x1y2".gsub(/(\d)/) { "foo".gsub(/(o)/) { $1.upcase } + $1.to_s }
end
p nested

def scanned
  pairs = []
  "a=1;b=2".scan(/(\w)=(\d)/) { pairs << [other("z"), $1, $2] }
  pairs
end
p scanned

def changed
  text = "abc".dup
  text.sub!(/b(.)/) { other("z") && $1 * 2 }
  other("z")
  [text, $1, text.slice!(/a/), $~[0], text[/c(.)/, 1], $~ && $1]
end
p changed

def recursive(depth)
  return depth unless "#{depth}-" =~ /(\d)-/

  [$1, depth.zero? ? nil : recursive(depth - 1), $1]
end
p recursive(2)

def named(text)
  return unless /(?<year>\d+)-(?<month>\d+)/ =~ text

  other("z")
  [year, month, $~[:year], $1]
end
p named("2020-11"), named("no")

def failed
  "a" =~ /(a)/
  "a" =~ /(b)/
  [$~, $1]
end
p failed

def unmatched = [$~, $1]
"a" =~ /(a)/
p unmatched, $1
other("z")
p $1
[1].each { "b" =~ /(b)/ }
p $1
pattern = /(c)/
p "c".match(pattern) && [other("z"), $1], "c".match?(/d/), $1

class Body
  "k" =~ /(k)/
  p $1
  NUMBER = /(\d)/

  def constant(text)
    return $1 if NUMBER === text

    text[NUMBER] || $~
  end
end
p Body.new.constant("a1"), Body.new.constant("a"), $1
$~ = nil
p $1

# What another method has matched is not taken for what this one has.
def nothing_matched(text)
  other("z")
  [text =~ /(x)/, $1, text&.match(/(x)/), $1, text !~ /(x)/, $~]
end
p nothing_matched(nil)

def kept(text)
  "a" =~ /(a)/
  other("z")
  nobody = nil
  [nobody =~ /(x)/, $1, nobody&.match(/x/), $1, text.index("t"), text.partition("e"), text["e"], text.start_with?("t"), $1]
end
p kept("text")

def not_found(text)
  %i[partition rpartition index rindex [] slice start_with? match sub gsub scan].map do |name|
    "a" =~ /(a)/
    case name
    when :partition then text.partition(/(q)/)
    when :rpartition then text.rpartition(/(q)/)
    when :index then text.index(/(q)/)
    when :rindex then text.rindex(/(q)/)
    when :[] then text[/(q)/]
    when :slice then text.slice(/(q)/)
    when :start_with? then text.start_with?(/(q)/)
    when :match then text.match(/(q)/)
    when :sub then text.sub(/(q)/, "")
    when :gsub then text.gsub(/(q)/) { "" }
    when :scan then text.scan(/(q)/)
    end
    [name, $1]
  end
end
p not_found("text")

class Route
  def match(text) = text =~ /(r)/
  def =~(other) = other =~ /(r)/
  def ===(other) = other =~ /(r)/
  def [](text) = text[/(r)/]
  def sub(text) = text.sub(/(r)/) { yield $1 }
  def scan(text) = text.scan(/(r)/)

  def sub!(text) = text =~ /(r)/
  def call(text) = sub(text) { |found| found.upcase }
end

def of_other_classes(route, other)
  "a" =~ /(a)/
  found = [route.match("r"), $1, route =~ "r", $1, route["r"], $1, route.sub("r") { |one| one + $1 }, $1, route.scan("r"), $1, route === "r", $1, route.sub!("r"), $1]
  case "r"
  when route then found << $1
  end
  { other => 1 }[other]
  found << $1 << route.call("r") << $1
end
p of_other_classes(Route.new, /z/)

# Expressions that are in variables, or come of a call.
class Held
  def initialize = @pattern = /(\d)(\w)?/
  attr_reader :pattern

  def all(text, given)
    found = [text[@pattern], $1, text[given, 1], $1, text.slice(pattern), $2, text.index(given), $1, text.rindex(@pattern), $1]
    found.push(text.partition(@pattern), $1, text.rpartition(given), $1, text.start_with?(given), $1, given === text, $1, pattern =~ text, $2)
    found.push(%w[a1 b2c].grep(@pattern) { $1 }, $1, text.match(given), $1, text.sub(given) { $1 * 2 }, text.gsub(pattern, ""), $~[0])
    case text
    when String, given then found << $1
    end
    case text
    when /z/, @pattern then found << $1
    end
    case text
    when *[/z/, given] then found << $2
    end
    other("z")
    found << $1
  end

  def changed(text, given)
    copy = text.dup
    copy[given] = "x"
    found = [copy, $1]
    hash = { given => 1 }
    copy.slice!(given)
    found << $1
    hash[given] = 2
    found << $1
    first, hash[given] = 1, 3
    list = [text.dup, 2]
    list[first, text.size], rest = 4, (hash[given] = 5)
    found << list.size << rest << hash[given]
    list[0].sub!(given, "")
    found << $1 << list << first
  end
end
p Held.new.all("x1y2", /(\w)(\d)/), Held.new.changed("x1y2z3", /([a-z])\d/)

def in_patterns(value)
  case value
  in /(\d+)/ then other("z") && $1
  in [/(a)/, /(b)/] then $1
  in { name: /(n.)/ => name, other: Route | nil } then [name, $1]
  in Integer | nil then $1
  end
end
p in_patterns("a12"), in_patterns(%w[a b]), in_patterns({ name: "ann", other: nil }), in_patterns(5)

def in_one(value)
  "a" =~ /(a)/
  found = [(value in Integer), $1]
  value => /(v.)/ | Integer
  found << $1
end
p in_one("v1"), in_one(1)
