# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # Reading methods for StringIO and File. The including class has size, latin1_at(position, length), decoded(latin1), @position and
  # @closed.
  module ByteStream
    CHUNK = 1024 # most lines are shorter

    def read(length = nil, buffer = nil)
      check_readable
      piece = length ? piece_of(length) : read_rest
      buffer&.replace(piece || "")
      buffer && piece ? buffer : piece
    end

    def readpartial(length, buffer = nil)
      read(length, buffer) || raise(EOFError, "end of file reached")
    end

    alias sysread readpartial

    def read_nonblock(length, buffer = nil, exception: true)
      read(length, buffer) || (exception ? raise(EOFError, "end of file reached") : nil)
    end

    def pread(length, offset)
      `Opal.new_bytes(#{latin1_at(offset, length)})`
    end

    def gets(separator = $/, limit = nil, chomp: false)
      check_readable
      if Integer === separator
        limit = separator
        separator = $/
      end
      line = take_line(separator, limit)
      return $_ = nil if line.empty?

      @lineno = lineno + 1
      line = line.chomp(separator || "") if chomp
      $_ = decoded(line)
    end

    def readline(...)
      gets(...) || raise(EOFError, "end of file reached")
    end

    def each(separator = $/, limit = nil, chomp: false, &block)
      return readlines(separator, limit, chomp: chomp).each unless block

      while (line = gets(separator, limit, chomp: chomp))
        block.call(line)
      end
      self
    end

    alias each_line each

    def readlines(separator = $/, limit = nil, chomp: false)
      lines = []
      each(separator, limit, chomp: chomp) { |line| lines << line }
      lines
    end

    def getbyte
      byte = take(1)
      byte.empty? ? nil : byte.ord
    end

    def readbyte
      getbyte || raise(EOFError, "end of file reached")
    end

    def each_byte
      return enum_for(:each_byte) unless block_given?

      while (byte = getbyte)
        yield byte
      end
      self
    end

    def getc
      first = latin1_at(@position, 4)
      return nil if first.empty?

      character = decoded(first)[0]
      @position += character.bytesize
      character
    end

    def readchar
      getc || raise(EOFError, "end of file reached")
    end

    def each_char
      return enum_for(:each_char) unless block_given?

      while (character = getc)
        yield character
      end
      self
    end

    def ungetbyte(_byte)
      @position -= 1 if @position.positive?
      nil
    end

    def ungetc(character)
      @position = [@position - character.bytesize, 0].max
      nil
    end

    def pos
      @position
    end

    alias tell pos

    def pos=(position)
      raise Errno::EINVAL, "Invalid argument" if position.negative?

      @position = position
    end

    def seek(offset, whence = IO::SEEK_SET)
      from = case whence
             when IO::SEEK_CUR, :CUR then @position
             when IO::SEEK_END, :END then size
             else 0
             end
      self.pos = from + offset
      0
    end

    def rewind
      @position = 0
      @lineno = 0
      0
    end

    def eof?
      check_readable
      @position >= size
    end

    alias eof eof?

    def lineno
      @lineno || 0
    end

    attr_writer :lineno

    def <<(text)
      write(text)
      self
    end

    def putc(character)
      write(Integer === character ? character.chr : character[0])
      character
    end

    def print(*texts)
      write(*texts)
      nil
    end

    def printf(format, *values)
      write(format(format, *values))
      nil
    end

    def puts(*lines)
      return write("\n") && nil if lines.empty?

      lines.flatten.each { |line| write(line.to_s.end_with?("\n") ? line.to_s : "#{line}\n") }
      nil
    end

    def flush
      self
    end

    private

    def piece_of(length)
      return "".b if length.zero?

      piece = take(length)
      piece.empty? ? nil : `Opal.new_bytes(piece)`
    end

    def read_rest
      decoded(take([size - @position, 0].max))
    end

    def take(length)
      piece = latin1_at(@position, length)
      @position += piece.length
      piece
    end

    def take_line(separator, limit)
      return take(limit || [size - @position, 0].max) unless separator

      paragraph = separator.empty?
      skip_newlines if paragraph
      line = line_upto(paragraph ? "\n\n" : `Opal.to_latin1(separator)`, limit)
      @position += line.length
      skip_newlines if paragraph
      line
    end

    def skip_newlines
      @position += 1 while latin1_at(@position, 1) == "\n"
    end

    def line_upto(separator, limit)
      length = limit ? [CHUNK, limit].min : CHUNK
      piece = latin1_at(@position, length)
      until (at = piece.index(separator)) || piece.length < length || length == limit
        length = [length * 2, limit].compact.min
        piece = latin1_at(@position, length)
      end
      at ? piece[0, at + separator.length] : piece
    end
  end
end
