# frozen_string_literal: true

S = Struct.new(:a, :b)
class K; attr_accessor :x; def initialize; @x = [1, "é"]; end; end
[nil, true, false, 0, 1, -1, 122, 123, -123, -124, 255, 256, 65536, -65537, 2**29, 1.5, -0.25, "é", "\xff\x00".b, [1, [2]], { "a" => 1, "b" => [nil, "x"] }, { 1 => { 2 => 3 } }, "x" * 300].each do |v|
  d = Marshal.dump(v)
  p d.unpack1("H*"), Marshal.load(d) == v
end
a = [1]; p Marshal.load(Marshal.dump([a, a])).then { |x| x[0].equal?(x[1]) }
p Marshal.load(Marshal.dump(S.new(1, "b"))).to_a, Marshal.load(Marshal.dump(K.new)).x
begin; Marshal.load("xyz"); rescue TypeError => e; p e.class; end
begin; Marshal.load("\x04\x08[".b); rescue ArgumentError => e; p e.message; end

integers = [29, 30, 31, 32, 40, 48, 52].flat_map { |power| [2**power, (2**power) - 1, (2**power) + 1] }
integers += integers.map(&:-@) + [1_700_000_000, 4_000_000_000]
integers.each do |integer|
  dump = Marshal.dump(integer)
  p integer, dump.unpack1("H*"), Marshal.load(dump) == integer
end
now = Time.now.to_i
p Marshal.load(Marshal.dump("at" => now))["at"] == now

class Y; attr_accessor :kind; end
kept = Y.new
kept.kind = :round
[:a, [:a, :b, :a, "a"], { "kind" => :a, "b" => [:b] }, :é, [:é, :é], S.new(:a, [:b, :a]), S, kept].each { |v| p Marshal.dump(v).unpack1("H*") }
p Marshal.load(Marshal.dump([:a, "a", :é, :a])).map(&:class), Marshal.load(Marshal.dump(kept)).kind.class, Marshal.load(Marshal.dump("k" => :v))["k"].class
shared = [1]
p Marshal.dump([2**40, shared, shared]).unpack1("H*"), Marshal.load(Marshal.dump([2**40, -(2**31), shared, shared])).then { |x| x[2].equal?(x[3]) }
p Marshal.dump([shared, shared, { "a" => shared }, 1.5, shared]).unpack1("H*")
