# frozen_string_literal: true

y = "é".b
p y.length, y.encoding, y.bytes, y.force_encoding("UTF-8"), "é".bytesize, "héllo".byteslice(1, 2)
p "\xff".valid_encoding?, "é\xff".b.force_encoding("UTF-8").valid_encoding?
p "\xE9".b[0].encoding, "a".b + "b", ("a" + "\xE9".b).encoding
begin; "é" + "\xE9".b; rescue => e; p e.class; end
begin; "\xE9".b.encode("UTF-8"); rescue => e; p e.class; end
p "\xE9".dup.force_encoding("ISO-8859-1").encode("UTF-8")
p({ "k".b => 1 }["k"], { "k" => 1 }["k".b])
p "a\xE9,b".b.split(",").map(&:encoding)
p ["\xE9".b, "a"].join.encoding
p [1,2].pack("C*").encoding, ["é"].pack("m0"), "w6k=".unpack1("m0").bytes, [233].pack("U").encoding
p "é".unpack("C*"), ["ff"].pack("H*").bytes, "\xff".b.unpack1("H*"), [1].pack("N").bytes
p "é".inspect
