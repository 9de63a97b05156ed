# frozen_string_literal: true

require "stringio"

# Each method that changes a string, on strings of each origin: right, or an error. A change that is lost in silence would be told here.
ORIGINS = {
  "literal" => -> { " aBc " }, "join" => -> { [" aB", "c "].join }, "format" => -> { " aBc " }, "sub" => lambda {
                                                                                                  " xBc ".sub("x", "a")
                                                                                                },
  "gsub" => -> { " xBc ".gsub("x") { "a" } }, "to_s" => -> { :" aBc ".to_s }, "read" => lambda {
                                                                                StringIO.new(" aBc ").read
                                                                              }, "interpolation" => lambda {
                                                                                   " aBc "
                                                                                 },
  "sum" => -> { " aB" + "c " }, "product" => -> { " aBc " * 1 }, "slice" => -> { "x aBc "[1..] }, "split" => lambda {
                                                                                                    "x, aBc ".split(",").last
                                                                                                  }, "dup" => lambda {
                                                                                                       " aBc ".dup
                                                                                                     },
  "unary plus" => -> { +" aBc " }, "String.new" => -> { String.new(" aBc ") }, "b" => -> { " aBc ".b }, "center" => lambda {
                                                                                                          "aBc".center(5)
                                                                                                        }, "chomp" => lambda {
                                                                                                             " aBc \n".chomp
                                                                                                           },
  "tr" => -> { " aXc ".tr("X", "B") }, "match" => -> { /.aBc./.match(" aBc ")[0] }, "inspect" => lambda {
                                                                                      " aBc ".inspect[1..-2]
                                                                                    }, "unpack" => lambda {
                                                                                         [" aBc "].pack("a*").unpack1("a*")
                                                                                       },
  "key" => -> { { " aBc " => 1 }.keys.first.dup }, "lines" => -> { " aBc ".lines.first }, "each_char" => -> { " aBc ".each_char.to_a.join }
}.freeze
CHANGES = {
  "<<" => ->(text) { [text << "d", text] }, "concat" => ->(text) { [text.concat("d", "e"), text] }, "prepend" => lambda { |text|
                                                                                                      [text.prepend("d"), text]
                                                                                                    },
  "insert" => ->(text) { [text.insert(1, "d"), text] }, "replace" => ->(text) { [text.replace("d"), text] }, "clear" => lambda { |text|
                                                                                                               [text.clear, text]
                                                                                                             },
  "[]=" => ->(text) { [text[1] = "d", text] }, "[]= range" => ->(text) { [text[1..2] = "d", text] }, "[]= string" => lambda { |text|
                                                                                                       [text["aB"] = "d", text]
                                                                                                     },
  "[]= regexp" => ->(text) { [text[/a./] = "d", text] }, "setbyte" => ->(text) { [text.setbyte(1, 100), text] }, "slice!" => lambda { |text|
                                                                                                                   [text.slice!(1), text]
                                                                                                                 },
  "slice! two" => ->(text) { [text.slice!(0, 2), text] }, "strip!" => ->(text) { [text.strip!, text] }, "lstrip!" => lambda { |text|
                                                                                                          [text.lstrip!, text]
                                                                                                        },
  "rstrip!" => ->(text) { [text.rstrip!, text] }, "chomp!" => ->(text) { [text.chomp!(" "), text] }, "chop!" => ->(text) { [text.chop!, text] },
  "chomp! nothing" => ->(text) { [text.chomp!("x"), text] }, "upcase!" => ->(text) { [text.upcase!, text] }, "downcase!" => lambda { |text|
                                                                                                               [text.downcase!, text]
                                                                                                             },
  "capitalize!" => ->(text) { [text.capitalize!, text] }, "swapcase!" => ->(text) { [text.swapcase!, text] }, "reverse!" => lambda { |text|
                                                                                                                [text.reverse!, text]
                                                                                                              },
  "sub!" => ->(text) { [text.sub!("a", "d"), text] }, "sub! nothing" => ->(text) { [text.sub!("x", "d"), text] }, "gsub!" => lambda { |text|
                                                                                                                    [text.gsub!(/ /, "_"), text]
                                                                                                                  },
  "gsub! block" => ->(text) { [text.gsub!(/[a-c]/i) { |one| one.ord.to_s }, text] }, "tr!" => ->(text) { [text.tr!("a-z", "d"), text] },
  "tr_s!" => ->(text) { [text.tr_s!(" a", "x"), text] }, "delete!" => ->(text) { [text.delete!("a"), text] }, "squeeze!" => lambda { |text|
                                                                                                                [text.squeeze!, text]
                                                                                                              },
  "succ!" => ->(text) { [text.succ!, text] }, "next!" => ->(text) { [text.next!, text] }, "delete_prefix!" => lambda { |text|
                                                                                            [text.delete_prefix!(" a"), text]
                                                                                          },
  "delete_suffix!" => ->(text) { [text.delete_suffix!("c "), text] }, "force_encoding" => ->(text) { [text.force_encoding("BINARY"), text] },
  "encode!" => ->(text) { [text.encode!("UTF-8"), text] }, "scrub!" => ->(text) { [text.scrub!, text] }, "unicode_normalize!" => lambda { |text|
                                                                                                           [text.unicode_normalize!, text]
                                                                                                         },
  "append_as_bytes" => ->(text) { [text << "d".b, text] }, "&.strip!" => ->(text) { [text&.strip!, text] }, "&.<<" => lambda { |text|
                                                                                                              [text&.<<("d"), text]
                                                                                                            },
  "+=" => ->(text) { [text += "d", text] }, "element" => ->(text) { [text].then { |list| [list[0].upcase!, list[0] << "d", list] } },
  "each(&:upcase!)" => lambda { |text|
    [text].then do |list|
      [list.each(&:upcase!), list]
    end
  }, "each block" => lambda { |text|
       [text].then do |list|
         list.each do |one|
           one << "d"
         end && list
       end
     },
  "map(&:strip!)" => lambda { |text|
    [text].then do |list|
      [list.map(&:strip!), list]
    end
  }, "map! block" => lambda { |text|
       [text].then do |list|
         [list.map! do |one|
           one.strip! || one
         end, list]
       end
     },
  "tap" => ->(text) { [text.tap { |one| one << "d" }] }, "send" => ->(text) { [text.send(:<<, "d"), text] }, "public_send" => lambda { |text|
                                                                                                               [text.upcase!, text]
                                                                                                             },
  "method" => ->(text) { [text.method(:<<).call("d"), text] }, "hash" => lambda { |text|
                                                                 { a: text }.then do |map|
                                                                   [map[:a] << "d", map.fetch(:a).upcase!, map[:a]]
                                                                 end
                                                               },
  "each_value" => ->(text) { { 1 => text }.then { |map| map.each_value(&:strip!) && map } }, "helper" => lambda { |text|
                                                                                               adds_to(text) && text
                                                                                             }
}.freeze

def adds_to(text)
  text << "d"
  true
end

def outcome(origin, change)
  change.call(origin.call)
rescue FrozenError, NotImplementedError
  "loud"
rescue StandardError => e
  e.class.name
end

wrong = ORIGINS.flat_map do |from, origin|
  CHANGES.filter_map do |name, change|
    frozen = from == "literal" && RUBY_ENGINE == "ruby"
    want = outcome(-> { String.new(" aBc ", encoding: origin.call.encoding) }, change)
    got = outcome(origin, change)
    "#{name} of #{from}: #{got.inspect} instead of #{want.inspect}" unless frozen || got == want || got == "loud"
  end
end
puts wrong
puts "#{ORIGINS.size * CHANGES.size} pairs"

# What is right, not merely an error: what the application has in variables, elements and attributes of its own.
text = ["a", "b "].join
text&.strip!
missing = nil
p text, missing&.strip!
list = [" a ", " b "].map(&:strip)
p list.each(&:upcase!), list, [[2, 1]].each(&:sort!)
Named = Struct.new(:name)
named = Named.new("x".upcase)
named&.name&.downcase!
named&.name&.<< "y"
p named.name
map = { a: "b".upcase }
map.fetch(:a) << "c"
p map[:a]
p "a;b, c".split(",").map { |part| part.strip!; part.sub!(";", "-"); part }

# A part that a variable names.
def without_last_line(text)
  range = (text.rindex("\n") + 1)..-1
  text[range] = ""
  text
end
p without_last_line("one\ntwo".dup), without_last_line("one\ntwo\nthree"[0..6])

# Of two variables that hold the same string one is changed, and the other is read: that is seen by both, or raises.
def seen_by_both(text)
  copy = text
  copy << "b"
  text
end

def seen_by_the_copy(text)
  copy = text
  text.upcase!
  copy
end

def seen_by_none(text)
  copy = text
  return text if text.empty?

  if text.size > 9
    copy << "b"
    copy
  else
    text
  end
end

def assigned_again(text)
  copy = text
  copy += "b"
  copy << "c"
  [text, copy]
end

shared = [["a", "x"].join, "b".dup].map do |text|
  seen_by_both(text.dup) == "#{text}b" && seen_by_the_copy(text.dup) == text.upcase
end
p shared
%i[seen_by_both seen_by_the_copy].each do |name|
  text = ["a", "x"].join
  result = send(name, text)
  puts "#{name} is wrong: #{result}" if result == "ax"
rescue FrozenError
  nil # right, too: the string is JavaScript's
end
p seen_by_none(["a"].join), assigned_again(["a"].join)
