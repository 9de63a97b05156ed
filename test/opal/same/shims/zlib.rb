# frozen_string_literal: true

require "zlib"
z = Zlib.gzip("hello" * 20); p Zlib.gunzip(z), Zlib.inflate(Zlib.deflate("é")).bytes, Zlib.crc32("abc"), Zlib.adler32("abc")
begin; Zlib.inflate("x"); rescue Zlib::Error => e; p e.class; end
require "stringio"
io = StringIO.new("".b); w = Zlib::GzipWriter.new(io); w.mtime = 1; w.write("abc"); w.finish; p Zlib.gunzip(io.string), Zlib::GzipReader.new(StringIO.new(io.string)).read
