# backtick_javascript: true
# frozen_string_literal: true

# Compressing and its reverse, by the runtime's node:zlib.
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

  # Gathers what is to be compressed, and compresses it at its end.
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

  # Gathers what is compressed, and yields it at its end.
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

  # What readers and writers have in common.
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

  # Compresses what is written to it, when it is closed or flushed.
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

    # Members of a gzip file may follow one another.
    def flush(_flush = SYNC_FLUSH)
      emit unless @pending.empty?
      self
    end

    def finish
      emit unless @pending.empty? && @emitted
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

    def emit
      @emitted = true
      @io.write(Zlib.gzip(@pending, level: @level))
      @pending = "".b
    end
  end

  # Reads what is compressed.
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
