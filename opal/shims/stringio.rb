# backtick_javascript: true
# frozen_string_literal: true

require "upwell/boot/byte_stream"

# A string as a stream. A read with a length returns bytes; any other read returns text in the string's encoding.
class StringIO < IO
  include Upwell::ByteStream

  # @return [String]
  attr_reader :string

  def self.open(*arguments)
    io = new(*arguments)
    return io unless block_given?

    begin
      yield io
    ensure
      io.close
    end
  end

  def initialize(string = "", mode = "r+") # rubocop:disable Lint/MissingSuper
    @string = string
    @position = 0
    @lineno = 0
    @closed = nil
    @appends = mode.to_s.start_with?("a")
    @string = "" if mode.to_s.start_with?("w")
    @closed = :write if mode.to_s.start_with?("r") && !mode.to_s.include?("+")
  end

  def string=(string)
    @string = string
    @position = @lineno = 0
    string
  end

  def size
    @string.bytesize
  end

  alias length size

  def external_encoding
    @encoding || @string.encoding
  end

  def internal_encoding
    nil
  end

  def set_encoding(encoding, *)
    @encoding = encoding && Encoding.find(encoding)
    @string = @string.force_encoding(@encoding) if @encoding
    self
  end

  def binmode
    set_encoding(Encoding::ASCII_8BIT)
  end

  def write(*texts)
    check_writable
    texts.sum { |text| write_one(text.to_s) }
  end

  def truncate(length)
    replace(decoded(latin1[0, length].ljust(length, "\0")))
    0
  end

  def reopen(string = "", _mode = nil)
    initialize(string)
    self
  end

  def tty?
    false
  end

  alias isatty tty?

  def fileno
    nil
  end

  def pid
    nil
  end

  def fsync
    0
  end

  def sync
    true
  end

  def sync=(value)
    value
  end

  def closed?
    @closed == :both
  end

  private

  def replace(whole)
    @string = `Opal.is_text(#{@string}) ? Opal.become(#{@string}, whole) : whole`
  end

  def latin1_at(position, length)
    latin1 = self.latin1
    `latin1.substr(position, length)`
  end

  def latin1
    return `Opal.to_latin1(#{@string})` if `Opal.is_bytes(#{@string})`

    content = `#{@string}.valueOf()`
    @latin1 = `Opal.to_latin1(content)` unless content == @latin1_of
    @latin1_of = content
    @latin1
  end

  def decoded(latin1)
    `Opal.is_bytes(#{@string}) ? Opal.new_bytes(latin1, #{@string}.encoding) : Opal.from_latin1(latin1)`
  end

  def write_one(text)
    length = text.bytesize
    @position = size if @appends
    whole = appended(text) || decoded(spliced(`Opal.to_latin1(text)`, length))
    replace(whole)
    @position += length
    length
  end

  def appended(text)
    return nil unless @position == size

    `Opal.is_bytes(#{@string}) || Opal.is_bytes(text) ? nil : #{@string}.valueOf() + text.valueOf()`
  end

  def spliced(text, length)
    whole = latin1
    at = @position
    `whole.slice(0, at).padEnd(at, '\0') + text + whole.slice(at + length)`
  end
end
