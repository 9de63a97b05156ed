# backtick_javascript: true
# frozen_string_literal: true

# Serializes values in the format of Ruby's Marshal, in both directions.
module Marshal
  MAJOR_VERSION = 4
  MINOR_VERSION = 8

  class << self
    def dump(value, io = nil, _limit = nil)
      bytes = `Opal.new_bytes(#{"\x04\x08".b.to_s} + #{Writer.new.write(value)})`
      return bytes unless io

      io.write(bytes)
      io
    end

    def load(source, proc = nil, freeze: false)
      bytes = source.respond_to?(:read) ? source.read : source
      latin1 = `Opal.to_latin1(bytes)`
      raise ArgumentError, "marshal data too short" if `latin1.length < 2`
      raise TypeError, "incompatible marshal file format (can't be read)" unless `latin1.startsWith('\x04\x08')`

      value = Reader.new(latin1).read
      proc ? proc.call(value) : value
    end

    alias restore load
  end

  # Writes a value as Latin-1: a code unit represents a byte.
  class Writer
    def initialize
      @objects = {}.compare_by_identity
      @symbols = {}
    end

    def write(value)
      case value
      when nil then "0"
      when true then "T"
      when false then "F"
      when Integer then integer(value)
      when Float then float(value)
      when Symbol then symbol(value.to_s)
      when String then string(value)
      else linked(value) { object(value) }
      end
    end

    private

    def linked(value)
      return "@#{number(@objects[value])}" if @objects.key?(value)

      @objects[value] = @objects.size
      yield
    end

    def object(value)
      case value
      when Array then "[" + number(value.size) + value.map { |one| write(one) }.join
      when Hash then hash(value)
      when Class then "c" + raw(value.name)
      when Module then "m" + raw(value.name)
      when Regexp then "I/" + raw(value.source) + `String.fromCharCode(#{value.options})` + encoding(value.source)
      when Proc, Method, IO then raise TypeError, "no _dump_data is defined for class #{value.class}"
      else instance(value)
      end
    end

    def instance(value)
      raise TypeError, "singleton can't be dumped" if value.class.name.nil?
      return "U" + symbol(value.class.name) + write(value.marshal_dump) if value.respond_to?(:marshal_dump)
      return dumped(value) if value.respond_to?(:_dump)

      members = value.is_a?(Struct) ? value.members.to_h { |name| [name, value[name]] } : variables_of(value)
      (value.is_a?(Struct) ? "S" : "o") + symbol(value.class.name) + number(members.size) + written(members)
    end

    def variables_of(value)
      value.instance_variables.to_h { |name| [name, value.instance_variable_get(name)] }
    end

    def written(members)
      members.map { |name, one| symbol(name.to_s) + write(one) }.join
    end

    def dumped(value)
      text = value._dump(-1)
      "Iu" + symbol(value.class.name) + raw(text) + encoding(text)
    end

    def hash(value)
      raise TypeError, "can't dump hash with default proc" if value.default_proc

      body = number(value.size) + value.map { |key, one| write(key) + write(one) }.join
      value.default.nil? ? "{#{body}" : "}#{body}#{write(value.default)}"
    end

    def string(value)
      @objects[Object.new] = @objects.size
      return "\"" + raw(value) if value.encoding == Encoding::ASCII_8BIT

      "I\"" + raw(value) + encoding(value)
    end

    def encoding(value)
      return "" if value.encoding == Encoding::ASCII_8BIT

      number(1) + symbol("E") + (value.encoding == Encoding::US_ASCII ? "F" : "T")
    end

    def symbol(name)
      return ";" + number(@symbols[name]) if @symbols.key?(name)

      @symbols[name] = @symbols.size
      name.ascii_only? ? ":" + raw(name) : "I:" + raw(name) + encoding(name)
    end

    def raw(text)
      latin1 = `Opal.to_latin1(text)`
      number(`latin1.length`) + latin1
    end

    def float(value)
      @objects[Object.new] = @objects.size
      text = if value.nan?
               "nan"
             elsif value.infinite?
               value.positive? ? "inf" : "-inf"
             else
               value == value.to_i ? value.to_i.to_s : value.to_s
             end
      "f" + raw(text)
    end

    def integer(value)
      return "i" + number(value) if value.between?(-(2**30), (2**30) - 1)

      @objects[Object.new] = @objects.size
      digits = value.abs.to_s(16)
      digits = digits.rjust((digits.length + 3).div(4) * 4, "0")
      bytes = [digits].pack("H*").reverse
      "l" + (value.negative? ? "-" : "+") + number(bytes.bytesize.div(2)) + `Opal.to_latin1(bytes)`
    end

    def number(value)
      %x{
        if (value === 0) return '\0';
        if (value > 0 && value < 123) return String.fromCharCode(value + 5);
        if (value < 0 && value > -124) return String.fromCharCode((value - 5) & 255);
        var bytes = '', count = 0, rest = value;
        while (count < 4 && rest !== (value < 0 ? -1 : 0)) { bytes += String.fromCharCode(rest & 255); rest >>= 8; count++; }
        return String.fromCharCode(value < 0 ? 256 - count : count) + bytes;
      }
    end
  end

  # Reads a serialized value.
  class Reader
    def initialize(latin1)
      @latin1 = latin1
      @position = 2
      @symbols = []
      @objects = []
    end

    def read
      case take(1)
      when "0" then nil
      when "T" then true
      when "F" then false
      when "i" then number
      when ":" then symbol.to_sym
      when ";" then @symbols[number].to_sym
      when "@" then @objects[number]
      when "I" then with_variables
      when "\"" then kept(`Opal.new_bytes(#{raw})`)
      when "f" then kept(float)
      when "l" then kept(integer)
      when "[" then array
      when "{" then hash
      when "}" then hash_with_default
      when "c", "m" then kept(Object.const_get(raw))
      when "o" then instance
      when "S" then struct
      when "U" then by_marshal_load
      when "u" then kept(Object.const_get(name)._load(`Opal.new_bytes(#{raw})`))
      when "e" then extended
      when "C" then name.then { read }
      else raise ArgumentError, "dump format error"
      end
    end

    private

    def take(length)
      piece = `#{@latin1}.substr(#{@position}, length)`
      raise ArgumentError, "marshal data too short" if piece.length < length

      @position += length
      piece
    end

    def kept(value)
      @objects << value
      value
    end

    def number
      %x{
        var first = #{take(1)}.charCodeAt(0), signed = first > 127 ? first - 256 : first, value = 0, bytes;
        if (signed === 0) return 0;
        if (signed > 4) return signed - 5;
        if (signed < -4) return signed + 5;
        bytes = #{take(`Math.abs(signed)`)};
        for (var i = bytes.length - 1; i >= 0; i--) value = value * 256 + bytes.charCodeAt(i);
        return signed > 0 ? value : value - Math.pow(256, -signed);
      }
    end

    def raw
      take(number)
    end

    # Reads the name of a class or a variable.
    def name
      case take(1)
      when ":" then symbol
      when ";" then @symbols[number]
      when "I" then take(1) && symbol_with_encoding
      else raise ArgumentError, "dump format error"
      end
    end

    def symbol
      text = `Opal.from_latin1(#{raw})`
      @symbols << text
      text
    end

    def with_variables
      case take(1)
      when "\"" then text(raw)
      when "/" then regexp
      when "u" then loaded
      when ":" then symbol_with_encoding.to_sym
      else
        @position -= 1
        read.tap { variables }
      end
    end

    def text(latin1)
      index = @objects.size
      @objects << nil
      @objects[index] = encoded(latin1, variables)
    end

    def encoded(latin1, variables)
      return `Opal.from_latin1(latin1)` if variables["E"]
      return `Opal.new_bytes(latin1, #{Encoding::US_ASCII})` if variables["E"] == false

      `Opal.force_encoding(Opal.new_bytes(latin1), #{variables["encoding"] || "ASCII-8BIT"})`
    end

    def symbol_with_encoding
      symbol.tap { variables }
    end

    def variables
      number.times.to_h { [name, read] }
    end

    def regexp
      source = raw
      options = take(1).ord
      kept(Regexp.new(encoded(source, variables), options))
    end

    def loaded
      owner = name
      latin1 = raw
      kept(Object.const_get(owner)._load(encoded(latin1, variables)))
    end

    def float
      case text = raw
      when "nan" then Float::NAN
      when "inf" then Float::INFINITY
      when "-inf" then -Float::INFINITY
      else text.to_f
      end
    end

    def integer
      negative = take(1) == "-"
      value = [`Opal.new_bytes(#{take(number * 2)})`.reverse].first.unpack1("H*").to_i(16)
      negative ? -value : value
    end

    def array
      all = kept([])
      number.times { all << read }
      all
    end

    def hash
      all = kept({})
      number.times { all[read] = read }
      all
    end

    def hash_with_default
      hash.tap { |all| all.default = read }
    end

    def instance
      value = kept(Object.const_get(name).allocate)
      number.times { value.instance_variable_set(name, read) }
      value
    end

    def struct
      kind = Object.const_get(name)
      index = @objects.size
      @objects << nil
      values = number.times.map { [name, read].last }
      @objects[index] = kind.new(*values)
    end

    def by_marshal_load
      value = kept(Object.const_get(name).allocate)
      value.marshal_load(read)
      value
    end

    def extended
      extension = Object.const_get(name)
      read.extend(extension)
    end
  end
end
