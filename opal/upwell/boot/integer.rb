# backtick_javascript: true
# use_strict: true
# frozen_string_literal: true

# Integers. JavaScript's bit operations have 32 bits, its zero may be negative, and division by zero gives infinity.
class Number
  %x{
    function is_short(number) {
      return (number | 0) === number;
    }

    // Returns the bits of an Integer. Beyond 2**53 an Integer is only approximate.
    function bits(number) {
      number = Math.trunc(number);
      if (!Number.isSafeInteger(number)) #{raise RangeError, "#{`number`} is beyond 2**53: its bits are not exact on a JavaScript runtime"};
      return BigInt(number);
    }

    function shift(number, count) {
      if (is_short(number) && count >= 0 && count < 32) {
        var shifted = number << count;
        if (shifted >> count === number) return shifted;
      }
      return Math.floor(Math.trunc(number) * Math.pow(2, count));
    }

    // Rounds a half away from zero, as C's round() does for MRI.
    function rounded(number, digits, half) {
      var scale = Math.pow(10, digits), scaled = Math.abs(number) * scale, below = Math.floor(scaled), rest = scaled - below;
      if (digits > 14 || !Number.isFinite(scaled)) return number;
      if (rest > 0.5 || (rest === 0.5 && (half === 'up' || (half === 'even' && below % 2 === 1)))) below++;
      if (half === 'up' && digits > 0 && (below + 0.5) / scale <= Math.abs(number)) below++;
      return Math.sign(number) * below / scale + 0;
    }

    function power(base, exponent, modulus) {
      var result = 1n, whole = bits(modulus), factor = bits(base) % whole, rest = bits(exponent);
      for (; rest > 0n; rest >>= 1n, factor = factor * factor % whole) if (rest & 1n) result = result * factor % whole;
      return Number((result % whole + whole) % whole);
    }
  }

  def &(other)
    %x{
      if (!other.$$is_number) return #{__coerced__ :&, other};
      return is_short(self) && is_short(other) ? self & other : Number(bits(self) & bits(other));
    }
  end

  def |(other)
    %x{
      if (!other.$$is_number) return #{__coerced__ :|, other};
      return is_short(self) && is_short(other) ? self | other : Number(bits(self) | bits(other));
    }
  end

  def ^(other)
    %x{
      if (!other.$$is_number) return #{__coerced__ :^, other};
      return is_short(self) && is_short(other) ? self ^ other : Number(bits(self) ^ bits(other));
    }
  end

  def ~
    `-Math.trunc(self) - 1`
  end

  def <<(other)
    `shift(self, #{Opal.coerce_to!(other, Integer, :to_int)})`
  end

  def >>(other)
    `shift(self, -#{Opal.coerce_to!(other, Integer, :to_int)})`
  end

  def [](bit, length = 1)
    return 0 if bit < 0

    (self >> bit) & ((1 << length) - 1)
  end

  def allbits?(mask)
    (self & mask) == mask
  end

  def anybits?(mask)
    (self & mask) != 0
  end

  def nobits?(mask)
    (self & mask) == 0
  end

  def bit_length
    raise NoMethodError.new("undefined method `bit_length' for #{self}:Float", :bit_length) unless Integer === self

    number = self < 0 ? ~self : self
    `number === 0 ? 0 : number.toString(2).length`
  end

  def size
    8
  end

  alias pow_of_opal pow

  def pow(exponent, modulus = nil)
    return self**exponent unless modulus
    return pow_of_opal(exponent, modulus) if `!Number.isInteger(exponent) || exponent < 0 || !Number.isInteger(modulus) || modulus <= 0`

    `power(self, exponent, modulus)`
  end

  def div(other)
    raise ZeroDivisionError, "divided by 0" if other == 0

    (self / other).floor
  end

  def ceildiv(other)
    -div(-other)
  end

  def chr(encoding = nil)
    raise RangeError, "invalid codepoint 0x#{to_s(16).upcase} in UTF-8" if encoding && `self >= 0xd800 && self <= 0xdfff`
    return `Opal.enc(String.fromCodePoint(self), #{Encoding.find(encoding).name})` if encoding
    raise RangeError, "#{self} out of char range" unless `self >= 0 && self <= 255`

    `self < 128 ? String.fromCharCode(self) : Opal.new_bytes(String.fromCharCode(self))`
  end

  alias round_of_opal round

  def round(digits = nil, half: nil)
    digits = digits ? Opal.coerce_to!(digits, Integer, :to_int) : 0
    return round_of_opal(digits) if `Number.isInteger(self) || !Number.isFinite(self) || digits < 0`

    `rounded(self, digits, #{(half || :up).to_s})`
  end

  alias remainder_of_opal %

  def %(other)
    remainder_of_opal(other) + 0
  end

  alias modulo %

  alias text_in_base to_s

  def to_s(base = 10)
    `base === 10 || self === 0 ? "" + self : #{text_in_base(base)}`
  end

  alias inspect to_s
end

# Divides two known Integers, for the compiler (see Rewriters::Divisions). A number has no Integer type, so a whole number divided by zero
# counts as an Integer.
%x{
  Opal.ratio = Opal.rb_divide;
  Opal.rb_divide = (one, other) => {
    if (other === 0 && Number.isInteger(one)) #{raise ZeroDivisionError, "divided by 0"};
    return Opal.ratio(one, other);
  };
  Opal.quotient = (one, other) => Number.isInteger(one) && Number.isInteger(other) ? one.$div(other) : Opal.rb_divide(one, other);
}
