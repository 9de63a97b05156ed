# backtick_javascript: true
# frozen_string_literal: true

# Compression and decompression on top of node:zlib.
module Zlib
  Error = Class.new(StandardError)
  DataError = Class.new(Error)
  BufError = Class.new(Error)
  StreamError = Class.new(Error)

  NO_COMPRESSION = 0
  BEST_SPEED = 1
  BEST_COMPRESSION = 9
  DEFAULT_COMPRESSION = -1
  NO_FLUSH = 0
  SYNC_FLUSH = 2
  FINISH = 4
  DEFAULT_STRATEGY = 0
  MAX_WBITS = 15
  DEF_MEM_LEVEL = 8

  class << self
    def run(function, bytes, options = nil)
      %x{
        try { return Opal.from_buffer(require('node:zlib')[#{function}](Opal.to_buffer(bytes), options === nil ? {} : options)); }
        catch (error) {
          if (error.code === 'Z_BUF_ERROR') #{raise BufError, "buffer error"};
          #{raise DataError, `String(error.message)`};
        }
      }
    end

    def deflate(bytes, level = DEFAULT_COMPRESSION)
      run("deflateSync", bytes, `{ level: level }`)
    end

    def inflate(bytes)
      run("inflateSync", bytes)
    end

    def gzip(bytes, level: nil, strategy: nil)
      run("gzipSync", bytes, `{ level: #{level || DEFAULT_COMPRESSION} }`)
    end

    def gunzip(bytes)
      run("gunzipSync", bytes)
    rescue DataError, BufError => e
      raise GzipFile::Error, e.message
    end

    def crc32(bytes = "", start = 0)
      %x{
        if (require('node:zlib').crc32) return require('node:zlib').crc32(Opal.to_buffer(bytes), start);
        var crc = ~start;
        for (var byte of Opal.to_buffer(bytes)) {
          crc ^= byte;
          for (var bit = 0; bit < 8; bit++) crc = crc >>> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
        }
        return (~crc) >>> 0;
      }
    end

    def adler32(bytes = "", start = 1)
      %x{
        var low = start & 0xffff, high = start >>> 16;
        for (var byte of Opal.to_buffer(bytes)) { low = (low + byte) % 65521; high = (high + low) % 65521; }
        return (high * 65536 + low) >>> 0;
      }
    end
  end

  # Gathers data, and compresses all of it at the end.
  class Deflate
    def self.deflate(bytes, level = DEFAULT_COMPRESSION)
      Zlib.deflate(bytes, level)
    end

    def initialize(level = nil, window_bits = MAX_WBITS, *)
      @level = level || DEFAULT_COMPRESSION
      @raw = window_bits.to_i.negative?
      @pending = "".b
    end

    def <<(bytes)
      @pending += bytes.b
      self
    end

    def deflate(bytes, flush = NO_FLUSH)
      self << bytes
      flush == FINISH ? finish : "".b
    end

    def finish
      Zlib.run(@raw ? "deflateRawSync" : "deflateSync", @pending, `{ level: #{@level} }`).tap { @pending = "".b }
    end

    def close
      @closed = true
    end

    def closed?
      @closed || false
    end
  end

  # Gathers compressed data, and yields the content at the end.
  class Inflate
    def self.inflate(bytes)
      Zlib.inflate(bytes)
    end

    def initialize(window_bits = MAX_WBITS)
      @function = if window_bits.negative?
                    "inflateRawSync"
                  else
                    window_bits > 15 ? "unzipSync" : "inflateSync"
                  end
      @pending = "".b
    end

    def <<(bytes)
      @pending += bytes.b
      self
    end

    def inflate(bytes)
      Zlib.run(@function, @pending + (bytes || "").b)
    end

    def finish
      @pending.empty? ? "" : Zlib.run(@function, @pending)
    end

    def close
      @closed = true
    end
  end

  # The methods that readers and writers share.
  class GzipFile
    Error = Class.new(Zlib::Error)

    attr_accessor :mtime, :orig_name, :comment

    def self.wrap(*arguments, **options)
      file = new(*arguments, **options)
      return file unless block_given?

      begin
        yield file
      ensure
        file.close
      end
    end
  end

  # Compresses the written data at a flush or a close.
  class GzipWriter < GzipFile
    def initialize(io, level = nil, _strategy = nil)
      @io = io
      @level = level || DEFAULT_COMPRESSION
      @pending = "".b
      super()
    end

    def write(*texts)
      texts.sum do |text|
        @pending += text.to_s.b
        text.to_s.bytesize
      end
    end

    def <<(text)
      write(text)
      self
    end

    def puts(*lines)
      lines.each { |line| write(line.to_s.end_with?("\n") ? line : "#{line}\n") }
      nil
    end

    def print(*texts)
      write(*texts)
      nil
    end

    # A reader can read flushed data immediately. All data belongs to the single member of the file.
    def flush(_flush = SYNC_FLUSH)
      emit(`require("node:zlib").constants.Z_SYNC_FLUSH`) unless @pending.empty?
      self
    end

    def finish
      return @io if @finished

      @finished = true
      emit(`require("node:zlib").constants.Z_FINISH`)
      @io.write([@checksum, @size & 0xffffffff].pack("VV"))
      @io
    end

    def close
      finish
      @io.close if @io.respond_to?(:close)
      @closed = true
      @io
    end

    def closed?
      @closed || false
    end

    private

    def emit(flush)
      @io.write(head) unless @size
      @size = (@size || 0) + @pending.bytesize
      @checksum = Zlib.crc32(@pending, @checksum || 0)
      @io.write(Zlib.run("deflateRawSync", @pending, `{ level: #{@level}, finishFlush: flush }`))
      @pending = "".b
    end

    # The header (RFC 1952): magic number, deflate, no flags, time, no extra flags, Unix.
    def head
      ["1f8b0800", "03"].then { |first, last| [first].pack("H*") + [mtime.to_i].pack("V") + "\0".b + [last].pack("H*") }
    end
  end

  # Reads compressed data.
  class GzipReader < GzipFile
    def self.zcat(io)
      new(io).read
    end

    def initialize(io, **)
      require "stringio"
      @plain = StringIO.new(Zlib.gunzip(io.read).force_encoding("UTF-8"))
      super()
    end

    %i[read gets each_line each_byte readline readlines rewind eof? getc getbyte pos lineno].each do |name|
      define_method(name) { |*arguments, &block| @plain.public_send(name, *arguments, &block) }
    end

    alias each each_line

    def close
      @plain.close
    end
  end
end
