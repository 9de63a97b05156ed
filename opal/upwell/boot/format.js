// This file implements format, sprintf and String#%.
(function(Opal) {
  var nil = Opal.nil;
  var DIRECTIVE = /%((?:[ #+\-0]|\d+\$|[1-9]\d*|\*(?:\d+\$)?|\.(?:\*(?:\d+\$)?|\d*)|<[^>]+>)*)(?:\{([^}]+)\}|([a-zA-Z%])|(?=[\n\0])|)/g;
  var MODIFIER = /[ #+\-0]|\d+\$|[1-9]\d*|\*(?:\d+\$)?|\.(?:\*(?:\d+\$)?|\d*)|<[^>]+>/g;
  var RADIX = { b: 2, B: 2, o: 8, x: 16, X: 16 }, PREFIX = { b: '0b', B: '0B', o: '0', x: '0x', X: '0X' }, TIE_DIGITS = 25;

  function fail(message) {
    Opal.Kernel.$raise(Opal.ArgumentError, message);
  }

  // The arguments, taken in turn, by position or by name.
  class Values {
    constructor(all) {
      this.all = all;
      this.used = 0;
    }

    next() {
      return this.at(++this.used);
    }

    at(place) {
      if (place < 1 || place > this.all.length) fail('too few arguments');
      return this.all[place - 1];
    }

    named(name) {
      var hash = this.all[0];
      if (hash == null || !hash.$$is_hash) fail('one hash required');
      if (!hash['$key?'](name) && hash.$default(name) === nil) Opal.Kernel.$raise(Opal.KeyError, `key<${name}> not found`);
      return hash['$[]'](name);
    }

    number(stars) {
      return stars.length > 1 ? this.at(parseInt(stars.slice(1), 10)) : this.next();
    }
  }

  function directive(modifiers, values) {
    var found = { flags: '', width: 0, precision: null, value: undefined };
    for (var [one] of modifiers.matchAll(MODIFIER)) {
      if (one[0] === '<') found.value = values.named(one.slice(1, -1));
      else if (one[0] === '.') found.precision = one[1] === '*' ? values.number(one.slice(1)) : Number(one.slice(1));
      else if (one[0] === '*') found.width = values.number(one);
      else if (one.endsWith('$')) found.value = values.at(parseInt(one, 10));
      else if (/^[ #+\-0]$/.test(one)) found.flags += one;
      else found.width = Number(one);
    }
    if (found.width < 0) found.flags += '-', found.width = -found.width;
    return found;
  }

  function padded(text, { flags, width }) {
    var missing = width - text.$length();
    if (missing <= 0) return text;
    return flags.includes('-') ? Opal.string_sum(text, ' '.repeat(missing)) : Opal.string_sum(' '.repeat(missing), text);
  }

  // Joins a number's sign and digits, with zeros between them if requested.
  function number(sign, digits, spec, zeros) {
    if (zeros && spec.flags.includes('0') && !spec.flags.includes('-')) digits = digits.padStart(spec.width - sign.length, '0');
    return padded(sign + digits, spec);
  }

  function sign(negative, flags) {
    return negative ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  }

  function integer(value) {
    if (typeof value === 'number') value = Math.floor(value);
    else value = Opal.Kernel.$Integer(value);
    if (!Number.isFinite(value)) Opal.Kernel.$raise(Opal.FloatDomainError, Number.isNaN(value) ? 'NaN' : value < 0 ? '-Infinity' : 'Infinity');
    return BigInt(value);
  }

  function decimal(value, spec) {
    var whole = integer(value), negative = whole < 0n;
    return number(sign(negative, spec.flags), String(negative ? -whole : whole).padStart(spec.precision || 0, '0'), spec, spec.precision === null);
  }

  function in_radix(value, spec, letter) {
    var whole = integer(value), radix = RADIX[letter], signed = /[+ ]/.test(spec.flags), prefix = '', digits;
    if (whole < 0n && !signed) digits = complement(whole, radix, spec);
    else digits = (whole < 0n ? -whole : whole).toString(radix).padStart(spec.precision || 0, '0');
    if (spec.flags.includes('#') && whole !== 0n) prefix = PREFIX[letter];
    digits = number(sign(whole < 0n && signed, spec.flags) + prefix, letter === 'X' ? digits.toUpperCase() : digits, spec, spec.precision === null && whole >= 0n);
    return digits;
  }

  // Formats the two's complement, as if it had endless digits on the left.
  function complement(whole, radix, { flags, width, precision }) {
    var size = (-whole).toString(radix).length + 1, last = (radix - 1).toString(radix);
    var digits = (BigInt(radix) ** BigInt(size) + whole).toString(radix).replace(new RegExp(`^${last}+`), last);
    return '..' + digits.padStart(precision !== null ? precision - 2 : flags.includes('0') ? width - 2 : 0, last);
  }

  // C rounds a half to even, JavaScript rounds it up.
  function fixed(value, precision) {
    if (value >= 1e21) return String(BigInt(value)) + (precision > 0 ? '.' + '0'.repeat(precision) : '');
    var text = value.toFixed(precision), exact = value.toFixed(Math.min(100, precision + TIE_DIGITS)), cut = exact.length - Math.min(100 - precision, TIE_DIGITS);
    if (!/^\.?50*$/.test(exact.slice(precision > 0 ? cut : cut - 1)) || !/[13579]$/.test(text)) return text;
    return exact.slice(0, cut).replace(/\.$/, '');
  }

  function exponential(value, precision) {
    return value.toExponential(precision).replace(/e([+-])(\d)$/, 'e$10$2');
  }

  function general(value, precision, flags) {
    precision = precision === null ? 6 : precision || 1;
    var exponent = value === 0 ? 0 : parseInt(value.toExponential(precision - 1).split('e')[1], 10), plain = exponent >= -4 && exponent < precision;
    var text = plain ? fixed(value, precision - 1 - exponent) : exponential(value, precision - 1);
    return flags.includes('#') || !text.includes('.') ? text : text.replace(/\.?0+(?=e|$)/, '');
  }

  function real(value, spec, letter) {
    value = typeof value === 'number' ? value : Opal.Kernel.$Float(value);
    var negative = value < 0 || Object.is(value, -0) && letter !== 'f', size = Math.abs(value), { precision, flags } = spec, text;
    if (!Number.isFinite(value)) text = Number.isNaN(value) ? 'NaN' : 'Inf';
    else if (letter === 'f') text = fixed(size, precision === null ? 6 : precision);
    else if (letter === 'e' || letter === 'E') text = exponential(size, precision === null ? 6 : precision);
    else text = general(size, precision, flags);
    if (Number.isFinite(value) && letter < 'a') text = text.toUpperCase();
    return number(sign(negative, flags), text, spec, Number.isFinite(value));
  }

  function text(value, spec) {
    return padded(spec.precision === null ? value : value['$[]'](0, spec.precision), spec);
  }

  function character(value) {
    return value.$$is_string ? value['$[]'](0, 1) : String.fromCodePoint(Opal.coerce_to(value, Opal.Integer, 'to_int')).toWellFormed();
  }

  function formatted(modifiers, name, letter, values) {
    if (letter === '%' || (!name && !letter && !modifiers)) return '%';
    var spec = directive(modifiers, values);
    if (name) return text(values.named(name).$to_s(), spec);
    if (!letter) fail('incomplete format specifier; use %% (double %) instead');
    var value = spec.value === undefined ? values.next() : spec.value;
    switch (letter) {
      case 'd': case 'i': case 'u': return decimal(value, spec);
      case 'b': case 'B': case 'o': case 'x': case 'X': return in_radix(value, spec, letter);
      case 'e': case 'E': case 'f': case 'g': case 'G': return real(value, spec, letter);
      case 's': return text(value.$to_s(), spec);
      case 'p': return text(value.$inspect(), spec);
      case 'c': return text(character(value), spec);
      default: fail(`malformed format string - %${letter}`);
    }
  }

  Opal.format = function(format, all) {
    var values = new Values(all), whole = format.valueOf(), pieces = [], at = 0;
    var literal = (from, to) => pieces.push(Opal.is_bytes(format) ? Opal.new_bytes(whole.slice(from, to), format.encoding) : whole.slice(from, to));
    for (var found of whole.matchAll(DIRECTIVE)) {
      var [matched, modifiers, name, letter] = found;
      if (found.index + matched.length === whole.length && !name && !letter) fail('incomplete format specifier; use %% (double %) instead');
      literal(at, found.index);
      pieces.push(formatted(modifiers, name, letter, values));
      at = found.index + matched.length;
    }
    literal(at, whole.length);
    return Opal.interpolate(...pieces);
  };

  for (let name of ['$format', '$sprintf']) Opal.def(Opal.Kernel, name, (format, ...values) => Opal.format(Opal.coerce_to(format, Opal.String, 'to_str'), values));
  Opal.def(Opal.String, '$%', function(values) {
    return Opal.format(this, Opal.respond_to(values, '$to_ary') ? values.$to_ary() : [values]);
  });
})(Opal);
