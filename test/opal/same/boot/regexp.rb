# frozen_string_literal: true

p(/a#{1}b+/ =~ "xa1bb", $~[0], /(?<y>\d+)-(?<m>\d+)/.match("2026-11").named_captures, "a\nb" =~ /^b$/, "a\nb" =~ /\Ab/)
p "x\ny".gsub(/^/, "> "), "a\nb\n" =~ /b\Z/, "a\nb\n" =~ /b\z/, "a\nb" =~ /a.b/, "a\nb" =~ /a.b/m, "a b" =~ /a\ b # c/x
p Regexp.union("a.", /b/i), /a/i.to_s, /a\/b/.inspect, Regexp.escape("a.b"), /x/.source, /x/mi.options
p "foo-bar".match(/(o+)-(b)/).begin(2), "foo-bar".match(/(?<l>o+)-/).offset(:l), "ab" =~ /#{/B/i}/
p "1234567" =~ /\A\h{1,8}\z/, "zé" =~ /[[:alpha:]]{2}/, "a1" =~ /\A[a-z&&[^b]]\d/, "abab" =~ /\A(?<x>ab)\g<x>\z/, "aXbx" =~ /a(?i:x)bx/, "aXbX" =~ /a(?i:x)bx/
p "aab".scan(/a|b/), "a,b;c".split(/[,;]/), "x".match?(/\p{Alpha}/), "é" =~ /\w/, "\u00a0" =~ /\s/
p "\xE9a".b =~ /[\x80-\xff]/n, "foo.bar"[/\.(\w+)\z/, 1], "a\u2028b" =~ /a.b/
if /(?<year>\d+)/ =~ "in 12"
  p year
end
begin
  Regexp.new("(")
rescue RegexpError => e
  p e.class
end
