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
