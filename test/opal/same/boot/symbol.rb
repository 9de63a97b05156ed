# frozen_string_literal: true

p :a.is_a?(Symbol), :a.is_a?(String), "a".is_a?(String), "a".is_a?(Symbol), String === :a, Symbol === :a, :a.class, "a".class
case :x when String then p 1 when Symbol then p 2 end
h = { a: 1, "b" => 2 }; p h[:a], h.fetch(:a), h.key?(:a), h["b"]
x = :a; p h[x], h.dig(x), h.values_at(:a)
def kw(a:, b: 2, **o) = [a, b, o.size]
p kw(a: 1), kw(a: 1, b: 3, c: 4), kw(**{ a: 5 })
p [1, 2].map(&:to_s), [1, 2].inject(:+), [1, 2].reduce(1, :*), 5.send(:+, 3), "x".respond_to?(:upcase), [3, 1].sort_by(&:-@)
class K; attr_accessor :v, :w; define_method(:dm) { |x = 1| x }; private def pm = 1; alias_method :dm2, :dm; CONST = %i[a b]; end
k = K.new; k.v = 1; k.send(:w=, 2); p k.v, k.public_send(:w), k.dm, k.dm2(4), K::CONST
p K.instance_method(:dm).name.to_s, K.method_defined?(:v), K.const_get(:CONST).size, k.instance_variable_get(:@v)
p catch(:done) { throw :done, 7 }
S = Struct.new(:a, :b); s = S.new(1, 2); p s.a, s[:b], s["a"], s.to_a; s[:a] = 9; p s.a
S2 = Struct.new(:x, keyword_init: true); p S2.new(x: 3).x
p :a == :a, %i[b a].sort, :abc[1], :abc.length, :"a b".inspect
p "a".to_sym.class, :a.to_s.class, "#{:a}b", :a.upcase, [:a, :a].uniq, [:a] - [:a], [:a].include?(:a), { a: 1 }.transform_keys(&:to_s), [[:a, 1]].to_h[:a]
p "x-y".gsub("x", "a"), format("%s", :q), [:a, "b"].join("-"), :a.hash == :a.hash, Comparable.instance_method(:clamp).class
module M; def self.included(b) = b.extend(self); def z = :z; end
class K; include M; end; p K.z
require "set"; p Set[:a, :b].include?(:a)
o = Object.new; o.define_singleton_method(:hi) { :hi }; p o.hi, o.singleton_methods.map(&:to_s)
begin; o.nope; rescue NoMethodError => e; p e.name.to_s; end
p [:b, :a].min, [[:k, 1]].each_with_object({}) { |(a, b), m| m[a] = b }.keys.map(&:to_s)
case { type: :ok, n: 1 }
in { type: :ok, n: Integer => n } then p n
end
p (:a if :a), :a.then { |q| q }, :a.frozen?, :a.equal?(:a)
p 1.then { |v| v.respond_to?(:zero?) && v.public_send(:zero?) }
p Module.new { define_method("x") { } }.instance_methods.map(&:to_s)

# Those that clients invent are not kept, and are like all others.
known = Symbol.all_symbols.size
50_000.times { |number| "invented#{number}".to_sym }
GC.start
p Symbol.all_symbols.size < known + 20_000
invented = "invented 49999".to_sym
again = "invented 49999".to_sym
p invented == again, invented.eql?(again), invented.hash == again.hash, { invented => 1 }[again], [invented, again].uniq.size, [invented] - [again], [invented].include?(again), invented.inspect, invented.class
case invented when again then p :same end
require "set"; p Set[invented].include?(again), [invented].index(again), [invented, again].group_by(&:itself).size, [invented] & [again], Symbol === again, { "invented 49999": 2 }[again], ("i" * 200).to_sym == ("i" * 200).to_sym
