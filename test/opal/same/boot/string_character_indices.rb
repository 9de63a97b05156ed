# frozen_string_literal: true

# Characters that are two code units of JavaScript.
text = "a😀bé💀"
p text.length, text.size, text[1], text[0, 2], text[1..2], text[-1], text[2..], text[9], text[5], text[5, 1], text.slice(1, 3), text.reverse, text.each_char.to_a, text.chars
p text.index("b"), text.index("😀"), text.index("💀", 2), text.rindex("a"), text.index("z"), text.ljust(7, "."), text.rjust(7), text.center(9, "*"), text.chop, "😀x".chr, text.ord, "😀".ord
p text[/b./], text["😀"], text.sub("😀", "!"), text.upcase, text.include?("💀"), text.bytesize, text.bytes.size, text.codepoints, text.start_with?("a😀"), text.tr("é", "e")
copy = text.dup
copy[1] = "!"
p copy, copy.length
copy = text.dup
copy.insert(2, "-")
copy.slice!(0, 2)
p copy
copy["💀"] = ""
copy.insert(-1, "😀")
p copy, copy.dup << "x", copy.length
text.each_char { |character| print character, " " }
p "hi #{"\u{1F480}"} you"[0, 4].valid_encoding?, ("😀" * 3)[0..1], "plain"[1..3], "plain".length, "😀".dup.length, "é😀".b.length, "\xFF😀".length
p "😀".match?(/\A.\z/), "😀x"[/[^a]/], "a😀"[/\W+/], "😀".sub(/./, "x"), "a😀b".scan(/./), "😀é"[/\S/], "x😀y" =~ /y/ ? 1 : 0, "😀😀".gsub(/[😀]/, "-")
