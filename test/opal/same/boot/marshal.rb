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
