# frozen_string_literal: true

# Searches that go on, in text with characters of two code units: none goes on for ever, loses half a character or has one twice.
texts = ["", "x", "😀", "😀x", "x😀", "x😀y", "😀😀", "😀 hello", "a😀b💀", "é😀\n💀"]
patterns = [/./, /\W/, /[^x]/, /x*/, /[[:alpha:]]*/, /[[:space:]]*/, /\A[[:space:]]*|[[:space:]]*\z/, //, /(?=.)/, /(?!x)/, /$/, /^/, /(😀)?/,
            /\p{L}|(?<!x)/, /😀/, /[😀💀]+/, /z/, ""]
texts.each do |text|
  patterns.each do |pattern|
    p [text, pattern, text.gsub(pattern, "-"), text.gsub(pattern) { |found| "<#{found}>" }, text.gsub(pattern, "😀" => "!", "" => "e", "x" => "y"),
       text.gsub(pattern, '[\0]'), text.sub(pattern, "-"), text.sub(pattern) { |found| "<#{found}>" }, text.scan(pattern)]
    found = []
    text.scan(pattern) { |one| found << one }
    offsets = [-1, 0, 1, 2]
    p found, offsets.map { |at| text.index(pattern, at) }, offsets.map { |at| text.rindex(pattern, at) }, text.index(pattern), text.rindex(pattern)
    p text.partition(pattern), text.rpartition(pattern), text.split(pattern)
  end
end

# A block that scans or replaces by the same literal.
def words(text, depth)
  found = []
  text.scan(/\w/) { |word| found << (depth.zero? ? word : [word, words("pq", depth - 1)]) }
  found
end
p words("ab", 2)

def pairs(text)
  found = []
  text.scan(/(\w)=(\w)/) { |key, value| found << [key, key == value ? value : pairs("z=z")] }
  found
end
p pairs("a=1;b=2"), "a=1;b=2".b.scan(/(\w)=(\w)/) { |key, value| p key, value }

COMMA = /,\s*/.freeze
p "a, b,c".split(COMMA), "a, 😀,c".split(COMMA), "a, b,c".split(COMMA, 2), "a, 😀,c,".split(COMMA, -1), "😀x".split("", 2), "😀x".split(//), "a😀 b".split, "😀".split("😀"), "a,b".split(/(,)/)
p "😀 hello".match(/\W/), "😀 hello".match?(/\W/, 1), "😀 hello".match?(/\W/, 2), "foo".match?(/o/, 2), "foo".match?(/f/, 1), "foo".match?(/o/, -1), "foo".match?(/o/, -4), "foo".match?(/o/, 9), /x/.match?(nil), /x/.match?(:ax), "😀".match(/z/, 1)

# Sets of characters.
p "a😀b😀😀".count("😀"), "a😀b".count("^a"), "a😀b".delete("😀"), "a😀b".delete("^😀"), "aa😀😀b".squeeze, "aa😀😀b".squeeze("😀"), "aa😀😀b".squeeze("a-z")
p "a😀b".tr("😀", "x"), "a😀b".tr("ab", "💀😀"), "a😀b".tr("^a", "-"), "😀😁😂".tr("😀-😂", "a-c"), "abc".tr("a-c", "😀-😂"), "a-b😀".tr("-a", "+1"), "a😀".delete("a-c"), "a^😀".delete("\\^"), "a😀b".tr("😀", "")
p "a😀b".count("a-z", "^b"), "😀".dup.delete!("😀"), "😀".dup.squeeze!, "a-c".delete("a\\-c"), "a😀-".delete("-")

# Codes in octal, and ranges that end where halves of characters are.
p "a\nb" =~ /\012/, "a\nb" =~ /[\012]./, "\0" =~ /\0/, "A1" =~ /[\101]\d/, "é\u{ffff}"[/[\u0080-\uffff]+/], "é😀"[/[\u0080-\uffff]+/], "é😀"[/[\x7f-\u{10ffff}]+/], "a😀é".scan(/[é-\uffff]/)
