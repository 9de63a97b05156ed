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

# Attributes by names of methods that mostly make a string.
class Titled
  attr_accessor :name, :join, :inspect, :title
  attr_reader :strip

  def initialize
    @name = "n".upcase
    @strip = "s".upcase
    @join = "j".upcase
  end

  def to_s = "fresh".dup
end
titled = Titled.new
titled.name << "m"
titled.join << "k"
titled.strip << "p"
titled.to_s << "lost"
p titled.name, titled.join, titled.strip, titled.to_s, Titled.name
Record = Struct.new(:name)
record = Record.new("a".upcase)
record.name << "b"
record.name.upcase!
p record.name, record.name.dup << "c", record.name
HELD = "abc".freeze
begin
  HELD << "d"
rescue FrozenError => e
  p e.class, HELD
end
p %w[a b].join << "c", :a.to_s << "b"

# Blocks that are given to what changes a string.
class Shouts
  def loud(text) = text.upcase

  def call
    text = "abc".upcase.downcase
    text.gsub!(/b/) { loud("x") }
    list = ["abc".swapcase]
    list[0].sub!(/B/) { |found| loud(found) * 2 }
    [text, list]
  end
end
p Shouts.new.call

# Attributes that nobody has, or whoever is asked makes up.
class Proxy
  attr_reader :asked

  def method_missing(name, *) = (@asked = name.to_s) && (@texts ||= Hash.new { |texts, one| texts[one] = +"" })[name.to_s]
  def respond_to_missing?(*) = true
end
proxy = Proxy.new
proxy.invented << "x"
proxy.invented << "y"
p proxy.invented, proxy.asked
[-> { nil.nobody_has << "x" }, -> { Object.new.nobody_has_it.upcase! }, -> { 5.list << "x" }].each do |call|
  call.call
rescue NoMethodError => e
  p e.name.to_s, e.message[/undefined method .\w+'/].tr("`", "'")
end

# Elements that several values are given to.
list = [1, 2, 3]
list[0], list[1] = list[1], list[0]
@list = list
@list[0], (@list[1], last), *@list[2..] = 5, [6, 7], 8, 9
p list, last
