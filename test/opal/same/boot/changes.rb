# frozen_string_literal: true

s = +""
s << "a" << "b"
p s
s << "c" << 100
p s.gsub!(/c/, "C"), s.gsub!(/x/) { 1 }, s
h = { "a" => +"x" }
h["a"] << "y"
p h
(h["b"] ||= +"") << "z"
p h
class T
  attr_accessor :n
  attr_reader :o

  def initialize
    @n = "n".upcase
    @o = "o".upcase
  end

  def q
    o << "p"
    @o << "q"
    (@z ||= +"") << "zz"
    @z
  end
end
t = T.new
t.n << "m"
t.o << "r"
p t.n, t.q, t.o
p "abc".dup << "d"
a = [1]
a << 2 << 3
a.concat([4])
a.insert(1, 9)
p a
x = "hello".dup
p x.slice!(1, 2), x.dup, x.slice!(/l/), x
x.replace("new")
x.prepend("a", "b")
x.insert(-1, "!")
p x
x.concat("q", "r")
p x
x.clear
p x.empty?
def into(buffer) = buffer << "seen by who gave it"
b = String.new
into(b)
p b, b.encoding
c = "abc".upcase
c[-1] = "\n"
p c
c[0..1] = "xyz"
p c
c[/z/] = ""
p c
d = [1]
d[0] = 2
p d
e = "caps".dup
p e.upcase!, e.upcase!, e
f = "frozen".dup.freeze
begin
  f << "x"
rescue FrozenError => error
  p error.class, f.frozen?
end
