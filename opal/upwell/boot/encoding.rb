# backtick_javascript: true
# frozen_string_literal: true

# Encodings and bytes of strings, see bytes.js.
class Encoding
  CompatibilityError = Class.new(EncodingError)
  InvalidByteSequenceError = Class.new(EncodingError)
  ConverterNotFoundError = Class.new(EncodingError)

  singleton_class.attr_accessor :default_internal

  def self.compatible?(one, other)
    one.encoding == other.encoding || one.ascii_only? || other.ascii_only? ? one.encoding : nil
  end
end

%w[ISO-8859-2 ISO-8859-3 ISO-8859-4 ISO-8859-5 ISO-8859-6 ISO-8859-7 ISO-8859-8 ISO-8859-9 ISO-8859-10 ISO-8859-13 ISO-8859-14 ISO-8859-15
   ISO-8859-16 Windows-1250 Windows-1251 Windows-1252 Windows-1253 Windows-1254 Windows-1255 Windows-1256 Windows-1257 Windows-1258 Windows-31J
   Shift_JIS EUC-JP ISO-2022-JP EUC-KR Big5 GBK GB18030 KOI8-R KOI8-U UTF-7].each do |name|
  Encoding.register(name, aliases: [name.upcase], inherits: Encoding::ASCII_8BIT, ascii: !%w[ISO-2022-JP UTF-7].include?(name),
                          dummy: %w[ISO-2022-JP UTF-7].include?(name))
end

class String
  class << self
    alias new_of_class new

    def new(text = nil, encoding: nil, capacity: nil)
      return new_of_class(text || "") unless equal?(String)

      copy = text ? `Opal.copy(#{text.to_str})` : `Opal.new_bytes('')`
      encoding ? copy.force_encoding(encoding) : copy
    end
  end

  def +@
    `Opal.new_text(self)`
  end

  def -@
    `self.valueOf()`
  end

  def dup
    `Opal.copy(self)`
  end

  def +(other)
    other = `Opal.coerce_to(other, #{String}, 'to_str')` unless `other.$$is_string`
    `Opal.string_sum(self, other)`
  end

  def encoding
    `self.encoding`
  end

  def force_encoding(encoding)
    `Opal.force_encoding(self, encoding)`
  end

  def b
    `Opal.new_bytes(Opal.to_latin1(self))`
  end

  def bytesize
    `Opal.bytesize(self)`
  end

  def bytes
    `Array.from(Opal.to_buffer(self))`
  end

  def each_byte(&block)
    return enum_for(:each_byte) { bytesize } unless block

    bytes.each(&block)
    self
  end

  def getbyte(index)
    latin1 = `Opal.to_latin1(self)`
    index += `latin1.length` if index < 0
    `index < 0 || index >= latin1.length ? nil : latin1.charCodeAt(index)`
  end

  def byteslice(start, length = nil)
    piece = length ? `Opal.to_latin1(self)`[start, length] : `Opal.to_latin1(self)`[start]
    piece && `Opal.is_bytes(self) ? Opal.new_bytes(piece, self.encoding) : Opal.from_latin1(piece)`
  end

  def byteindex(other, start = 0)
    `var at = Opal.to_latin1(self).indexOf(Opal.to_latin1(other), start)`
    `at < 0 ? nil : at`
  end

  def valid_encoding?
    `Opal.is_bytes(self) ? self.encoding !== #{Encoding::US_ASCII} || Opal.is_ascii(self) : self.isWellFormed()`
  end

  def ascii_only?
    `Opal.is_ascii(self)`
  end

  def scrub(replacement = nil, &block)
    return self if valid_encoding?

    gsub(`Opal.ILL_FORMED`) { |byte| block ? block.call(byte.b) : replacement || "\uFFFD" }
  end

  def encode(*encodings, **options)
    to = Encoding.find(encodings.first || Encoding::UTF_8)
    from = encodings[1] ? Encoding.find(encodings[1]) : encoding
    return converted_to_utf_8(from, options) if to == Encoding::UTF_8
    return `Opal.enc(self, to.name)` unless [Encoding::ASCII_8BIT, Encoding::US_ASCII, Encoding::ISO_8859_1].include?(to)

    converted_to_bytes(to, options)
  end

  def unpack(format, offset: 0)
    `Opal.unpack(self, format, offset)`
  end

  def unpack1(format, offset: 0)
    unpack(format, offset: offset).first
  end

  def unicode_normalize(form = :nfc)
    `self.normalize(#{form.to_s.upcase})`
  end

  private

  def converted_to_utf_8(from, options)
    return options[:invalid] == :replace ? scrub(options[:replace]) : self if from == Encoding::UTF_8 || `Opal.is_ascii(self)`
    return `self.valueOf()` if from == Encoding::ISO_8859_1
    return `new TextDecoder(#{from.name}).decode(Opal.to_buffer(self))` unless [Encoding::ASCII_8BIT, Encoding::US_ASCII].include?(from)
    return `self.valueOf()`.gsub(`Opal.BEYOND_ASCII`) { options[:replace] || "\uFFFD" } if options.values_at(:undef, :invalid).include?(:replace)

    raise Encoding::UndefinedConversionError, "#{self[`self.search(Opal.BEYOND_ASCII)`].inspect} from #{from} to UTF-8"
  end

  def converted_to_bytes(to, options)
    beyond = to == Encoding::ISO_8859_1 ? `Opal.BEYOND_LATIN1` : `Opal.BEYOND_ASCII`
    text = `self.valueOf()`
    if options[:undef] == :replace || options[:invalid] == :replace || options[:fallback]
      text = text.gsub(beyond) { |character| options[:fallback] ? options[:fallback][character] : options[:replace] || "?" }
    end
    raise Encoding::UndefinedConversionError, "#{text[`text.search(beyond)`].inspect} from #{encoding} to #{to}" if `beyond.test(text)`

    `Opal.new_bytes(text, to)`
  end
end
