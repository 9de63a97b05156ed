// This file implements Array#pack and String#unpack on top of Buffer.
(function(Opal) {
  var nil = Opal.nil;
  var INTEGERS = { c: 1, C: 1, s: 2, S: 2, l: 4, L: 4, i: 4, I: 4, q: 8, Q: 8, j: 8, J: 8, n: 2, N: 4, v: 2, V: 4 };
  var REALS = { e: ['FloatLE', 4], g: ['FloatBE', 4], f: ['FloatLE', 4], F: ['FloatLE', 4], E: ['DoubleLE', 8], G: ['DoubleBE', 8], d: ['DoubleLE', 8], D: ['DoubleLE', 8] };

  function fail(error, message) {
    Opal.Kernel.$raise(Opal[error], message);
  }

  function directives(format) {
    var found = [];
    for (var [, letter, modifiers, count] of format.replace(/#.*/g, '').matchAll(/([a-zA-Z@])([_!<>]*)(\*|\d+)?/g)) {
      found.push({ letter, big: letter === 'n' || letter === 'N' || modifiers.includes('>'), star: count === '*', count: count === undefined || count === '*' ? null : Number(count) });
    }
    return found;
  }

  function put_integer(value, size, big) {
    var bytes = Buffer.alloc(size), rest = BigInt.asUintN(size * 8, BigInt(value));
    for (var i = 0; i < size; i++, rest >>= 8n) bytes[big ? size - 1 - i : i] = Number(rest & 255n);
    return bytes.latin1Slice();
  }

  function get_integer(bytes, at, size, big, signed) {
    var value = 0n;
    for (var i = 0; i < size; i++) value = value << 8n | BigInt(bytes[big ? at + i : at + size - 1 - i]);
    return Number(signed ? BigInt.asIntN(size * 8, value) : value);
  }

  function put_text(value, { letter, count, star }) {
    var text = value === nil ? '' : Opal.to_latin1(Opal.coerce_to(value, Opal.String, 'to_str'));
    if (star) return letter === 'Z' ? text + '\0' : text;
    return text.slice(0, count === null ? 1 : count).padEnd(count === null ? 1 : count, letter === 'A' ? ' ' : '\0');
  }

  function put_digits(value, { letter, count, star }) {
    var text = Opal.to_latin1(value), per = letter === 'H' || letter === 'h' ? 2 : 8, out = '';
    text = text.slice(0, star ? text.length : count === null ? 1 : count);
    for (var i = 0; i < text.length; i += per) {
      var digits = text.slice(i, i + per).padEnd(per, '0');
      if (letter === 'h' || letter === 'b') digits = Array.from(digits).reverse().join('');
      out += String.fromCharCode(parseInt(digits, per === 2 ? 16 : 2));
    }
    return out;
  }

  function put_base64(value, { count }) {
    var bytes = Opal.to_buffer(value), length = count === 0 ? Infinity : Math.max(3, Math.floor((count === null ? 45 : count) / 3) * 3), out = '';
    if (length === Infinity) return bytes.toString('base64');
    for (var i = 0; i < bytes.length; i += length) out += bytes.subarray(i, i + length).toString('base64') + '\n';
    return out;
  }

  function put_compressed(value) {
    var rest = BigInt(value), out = String.fromCharCode(Number(rest & 127n));
    while ((rest >>= 7n) > 0n) out = String.fromCharCode(Number(rest & 127n | 128n)) + out;
    return out;
  }

  function put_one(value, directive) {
    var letter = directive.letter;
    if (INTEGERS[letter]) return put_integer(Opal.coerce_to(value, Opal.Integer, 'to_int'), INTEGERS[letter], directive.big);
    if (letter === 'U') return Buffer.from(String.fromCodePoint(value), 'utf8').latin1Slice();
    if (letter === 'w') return put_compressed(value);
    if (REALS[letter]) {
      var bytes = Buffer.alloc(REALS[letter][1]);
      bytes['write' + REALS[letter][0]](value);
      return bytes.latin1Slice();
    }
    fail('ArgumentError', "unknown pack directive '" + letter + "'");
  }

  Opal.prop(Array.prototype, '$pack', function(format) {
    var out = '', at = 0, utf_8 = false, all = directives(format.valueOf());
    for (var directive of all) {
      var letter = directive.letter;
      if (letter === 'x') { out += '\0'.repeat(directive.count === null ? 1 : directive.count); continue; }
      if (letter === 'X') { out = out.slice(0, out.length - (directive.count === null ? 1 : directive.count)); continue; }
      if (letter === '@') { out = out.slice(0, directive.count).padEnd(directive.count, '\0'); continue; }
      var texts = 'aAZ'.includes(letter) ? put_text : 'HhBb'.includes(letter) ? put_digits : letter === 'm' ? put_base64 : null;
      var times = texts ? 1 : directive.star ? this.length - at : directive.count === null ? 1 : directive.count;
      while (times-- > 0) {
        if (at >= this.length) fail('ArgumentError', 'too few arguments');
        out += texts ? texts(this[at++], directive) : put_one(this[at++], directive);
      }
    }
    if (all.length && all[0].letter === 'U') return Opal.from_latin1(out);
    return all.length && all.every(({ letter }) => letter === 'm') ? out : Opal.new_bytes(out);
  });

  function get_text(bytes, at, { letter, count, star }) {
    var length = star ? bytes.length - at : Math.min(count === null ? 1 : count, bytes.length - at), text = bytes.latin1Slice(at, at + length);
    if (letter === 'A') text = text.replace(/[ \0]+$/, '');
    if (letter === 'Z' && text.includes('\0')) {
      if (star) length = text.indexOf('\0') + 1;
      text = text.slice(0, text.indexOf('\0'));
    }
    return [Opal.new_bytes(text), length];
  }

  function get_digits(bytes, at, { letter, count, star }) {
    var per = letter === 'H' || letter === 'h' ? 2 : 8, radix = per === 2 ? 16 : 2, out = '';
    var wanted = star ? (bytes.length - at) * per : Math.min(count === null ? 1 : count, (bytes.length - at) * per), length = Math.ceil(wanted / per);
    for (var i = 0; i < length; i++) {
      var digits = bytes[at + i].toString(radix).padStart(per, '0');
      out += letter === 'h' || letter === 'b' ? Array.from(digits).reverse().join('') : digits;
    }
    return [out.slice(0, wanted), length];
  }

  function get_base64(bytes, at, { count }) {
    var text = bytes.latin1Slice(at);
    var decoded = Buffer.from(text.replace(/[^A-Za-z0-9+\/=]/g, ''), 'base64');
    if (count === 0 && decoded.toString('base64') !== text) fail('ArgumentError', 'invalid base64');
    return [Opal.from_buffer(decoded), bytes.length - at];
  }

  function get_utf_8(bytes, at) {
    var first = bytes[at], length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4, text = bytes.utf8Slice(at, at + length);
    if (text.includes('\uFFFD')) fail('ArgumentError', 'malformed UTF-8 character');
    return [text.codePointAt(0), length];
  }

  function get_compressed(bytes, at) {
    var value = 0n, length = 0;
    do { value = value << 7n | BigInt(bytes[at + length] & 127); } while (bytes[at + length++] & 128);
    return [Number(value), length];
  }

  function get_one(bytes, at, { letter, big }) {
    if (INTEGERS[letter]) {
      var size = INTEGERS[letter];
      return at + size > bytes.length ? [nil, 0] : [get_integer(bytes, at, size, big, letter >= 'a' && letter !== 'n' && letter !== 'v'), size];
    }
    if (at >= bytes.length) return [nil, 0];
    if (letter === 'U') return get_utf_8(bytes, at);
    if (letter === 'w') return get_compressed(bytes, at);
    if (REALS[letter]) return at + REALS[letter][1] > bytes.length ? [nil, 0] : [bytes['read' + REALS[letter][0]](at), REALS[letter][1]];
    fail('ArgumentError', "unknown unpack directive '" + letter + "'");
  }

  function unpack(string, format, offset) {
    var bytes = Opal.to_buffer(string), at = offset || 0, found = [];
    for (var directive of directives(format.valueOf())) {
      var letter = directive.letter, piece, length;
      if (letter === 'x') { at += directive.count === null ? 1 : directive.count; continue; }
      if (letter === '@') { at = directive.count; continue; }
      var texts = 'aAZ'.includes(letter) ? get_text : 'HhBb'.includes(letter) ? get_digits : letter === 'm' ? get_base64 : null;
      var times = texts ? 1 : directive.star ? Infinity : directive.count === null ? 1 : directive.count;
      while (times-- > 0 && (texts || !directive.star || at < bytes.length)) {
        [piece, length] = (texts || get_one)(bytes, at, directive);
        if (directive.star && !texts && length === 0) break;
        found.push(piece);
        at += length;
      }
    }
    return found;
  }

  Opal.unpack = unpack;
})(Opal);
