# frozen_string_literal: true

require "stringio"
io = StringIO.new(+"héllo\nworld\n\nend")
p io.gets, io.gets(chomp: true), io.read(3), io.read(3).encoding, io.read, io.read, io.read(1), io.eof?
io.rewind; p io.each_line.to_a; io.rewind; p io.readlines("\n\n")
o = StringIO.new; o << "a" << 1; o.puts "x", ["y"]; o.print "é"; o.write("b", "c"); p o.string, o.pos
o.rewind; o.write("ZZ"); p o.string
begin; StringIO.new("x", "r").write("y"); rescue IOError => e; p e.message; end
p StringIO.new("ab").each_byte.to_a, StringIO.new("é").getc, StringIO.new("a").readpartial(4)
begin; StringIO.new("").readline; rescue EOFError => e; p e.message; end
