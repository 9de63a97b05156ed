# backtick_javascript: true
# frozen_string_literal: true

require "upwell/fast_constructor"

module Upwell
  # The head of a response: the application's status and fields, checked, without the fields that the server sets.
  class ResponseHead
    extend FastConstructor

    quick_new "status", "fields", "length", "close", "beyond_ascii"

    Invalid = Class.new(StandardError)
    NAMES_MAX = 512 # stored names

    # Facts about fields by name: the kind, and the last valid value, which most responses repeat.
    %x{
      const ORDINARY = 1, OURS = 2, CONNECTION = 3, LENGTH = 4;
      const known = new Map();
      const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, PRINTABLE = /^[\x20-\x7e]{0,256}$/, CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;
      const DIGITS = /^\d{1,15}$/, BEYOND_ASCII = /[\x80-\uffff]/;
      const BODILESS = new Set([204, 205, 304]);
    }

    # @return [Integer]
    attr_reader :status
    # @return [JavaScript Array] names and values in turn; a code unit represents a byte
    attr_reader :fields
    # @return [Integer, nil] the application's content length
    attr_reader :length

    # @param status [Integer, #to_i]
    # @param headers [Hash, #each]
    # @raise [Invalid] for a head that a client could parse as another response
    def initialize(status, headers)
      @status = `typeof status === "number"` ? status : status.to_i
      @fields = `[]`
      @close = @beyond_ascii = false
      refuse_status unless `self.status >= 200 && self.status <= 999`
      add_all(headers)
    end

    # @return [Boolean] whether the application wants the connection closed
    def close?
      @close
    end

    # @return [Boolean]
    def bodiless?
      `BODILESS.has(self.status)`
    end

    # @return [Integer, nil] the length to send in a response without content (RFC 9110, sections 8.6 and 15.3.6)
    def length_told
      { 204 => nil, 205 => 0 }.fetch(@status, @length)
    end

    # Compares the length of the body with the head's.
    #
    # @param length [Integer] the length of the body
    # @raise [Invalid] when the application has announced another length
    def check_length(length)
      return if @length.nil? || @length == length

      raise Invalid, "the response says content-length #{@length}, but its body has #{length} bytes; correct the header, or leave it out"
    end

    private

    def refuse_status
      raise Invalid, "the application returned status #{@status}; a status must be from 200 to 999"
    end

    def add_all(headers)
      %x{
        if (headers instanceof Map) headers.forEach((value, name) => #{add(`name`, `value`)});
        else #{headers.each { |name, value| add(name, value) }};
      }
    end

    def add(name, value)
      %x{
        const field = known.get(name) || #{field_of(name)};

        if (value === field.sound) self.fields.push(name, value);
        else if (value === nil || field.kind === OURS) return;
        else if (value.$$is_array) value.forEach(one => #{add_one(name, `field`, `one`)});
        else #{add_one(name, `field`, value)};
      }
    end

    def add_one(name, field, value)
      %x{
        const text = value.$$is_string ? value : #{value.to_s}, latin1 = Opal.to_latin1(text), kind = field.kind;

        if (CONTROL.test(latin1)) #{refuse_value(name)};
        if (Opal.BEYOND_LATIN1.test(latin1)) #{refuse_characters(name)};
        if (kind === ORDINARY) #{add_field(name, `latin1`)};
        else if (kind === LENGTH) self.length = #{parse_length(`text`)};
        else if (/\bclose\b/i.test(text)) self.close = true;
        if (kind === ORDINARY && typeof value === "string" && PRINTABLE.test(value)) field.sound = value;
      }
    end

    def add_field(name, latin1)
      %x{
        if (BEYOND_ASCII.test(latin1)) self.beyond_ascii = true;
        self.fields.push(name, latin1);
      }
    end

    def field_of(name)
      refuse_name(name) unless `TOKEN.test(name)`
      field = `{ kind: #{kind_of(name)}, sound: null }`
      `known.set(name, field)` if `known.size` < NAMES_MAX
      field
    end

    def kind_of(name)
      case name.downcase
      when "connection" then `CONNECTION`
      when "content-length" then `LENGTH`
      when "transfer-encoding", /\Arack\./ then `OURS`
      else `ORDINARY`
      end
    end

    def parse_length(text)
      raise Invalid, "the response header content-length must be a number of bytes, not #{text.inspect}" unless `DIGITS.test(text)`

      text.to_i
    end

    def refuse_name(name)
      raise Invalid, "the server rejects response header #{name.inspect}: HTTP forbids a character of the name; use letters, digits and hyphens"
    end

    def refuse_value(name)
      raise Invalid, "the server rejects response header #{name}: the value contains CR, LF, NUL or another control byte; remove it"
    end

    # Truncated to a byte, such a character could become a CR.
    def refuse_characters(name)
      raise Invalid, "the server rejects response header #{name}: the value has a byte encoding, but contains characters above 255; " \
                     "convert it to UTF-8"
    end
  end
end
