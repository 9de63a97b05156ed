// Mutable and binary strings. A JavaScript string is frozen and in UTF-8; a Text need not be. String.new, +"", dup, b and force_encoding
// create one. The content of a UTF-8 Text is a JavaScript string; in any other encoding a code unit is a byte. Invalid bytes in UTF-8 are
// kept as lone surrogates: U+DC80 to U+DCFF.
(function(Opal) {
  var UTF_8 = Opal.encodings['UTF-8'], BINARY = Opal.encodings['ASCII-8BIT'], nil = Opal.nil;

  // A Text does not inherit from JavaScript's String, which is immutable.
  class Text {
    constructor(content, encoding) {
      this.content = content;
      this.encoding = encoding;
    }
  }
  Object.setPrototypeOf(Text.prototype, String.prototype);
  Opal.Text = Text;

  function define(name, body) {
    Opal.prop(Text.prototype, name, body);
  }

  define('toString', function() { return this.content; });
  define('valueOf', function() { return this.content; });
  define('toJSON', function() { return this.content; });
  Object.defineProperty(Text.prototype, 'length', { get() { return this.content.length; } });
  Object.defineProperty(Text.prototype, 'internal_encoding', { get() { return this.encoding; } });

  // These functions recognize, create and copy Texts.
  Opal.is_text = (string) => string instanceof Text;
  Opal.is_bytes = (string) => string instanceof Text && string.encoding !== UTF_8;
  var is_bytes = Opal.is_bytes;

  Opal.new_text = (content) => new Text(content.valueOf(), UTF_8);
  Opal.new_bytes = (latin1, encoding) => new Text(latin1.valueOf(), encoding || BINARY);
  Opal.copy = (string) => string instanceof Text ? new Text(string.content, string.encoding) : new Text(string.valueOf(), UTF_8);
  Opal.from_buffer = (buffer) => new Text(buffer.latin1Slice ? buffer.latin1Slice() : Buffer.from(buffer).latin1Slice(), BINARY);

  Opal.to_buffer = function(string) {
    if (is_bytes(string)) return Buffer.from(string.content, 'latin1');
    var text = string.valueOf();
    return text.isWellFormed() ? Buffer.from(text, 'utf8') : Buffer.from(encode_escaped(text), 'latin1');
  };

  Opal.bytesize = function(string) {
    if (is_bytes(string)) return string.content.length;
    var text = string.valueOf(), size = Buffer.byteLength(text);
    return size === text.length || text.isWellFormed() ? size : encode_escaped(text).length;
  };

  // Converts a string to bytes, each as a code unit, and such bytes to a string in UTF-8.
  Opal.to_latin1 = function(string) {
    var text = string.valueOf();
    return is_bytes(string) || is_ascii(text) ? text : Opal.to_buffer(text).latin1Slice();
  };

  Opal.from_latin1 = function(latin1) {
    latin1 = latin1.valueOf();
    if (is_ascii(latin1)) return latin1;
    var text = Buffer.from(latin1, 'latin1').utf8Slice();
    return text.includes('\uFFFD') ? decode_escaped(latin1) : text;
  };

  Opal.BEYOND_ASCII = /[^\x00-\x7f]/;
  Opal.BEYOND_LATIN1 = /[^\x00-\xff]/;
  Opal.ILL_FORMED = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

  function is_ascii(string) {
    return !Opal.BEYOND_ASCII.test(string);
  }
  Opal.is_ascii = is_ascii;

  // Bytes equal bytes, and text equals text; ASCII is both.
  function equal(one, other) {
    return one.valueOf() === other.valueOf() && (is_bytes(one) === is_bytes(other) || is_ascii(one));
  }

  for (let name of ['$==', '$===', '$eql?', '$equal?']) {
    let unlike = String.prototype[name];
    Opal.prop(String.prototype, name, function(other) {
      return other != null && other.$$is_string ? equal(this, other) : unlike.call(this, other);
    });
  }

  function encode_escaped(text) {
    var out = '';
    for (var character of text) {
      var code = character.codePointAt(0);
      out += code >= 0xDC80 && code <= 0xDCFF ? String.fromCharCode(code - 0xDC00) : Buffer.from(character, 'utf8').latin1Slice();
    }
    return out;
  }

  var UTF_8_PIECES = new RegExp([
    '[\\x00-\\x7f]+', '[\\xc2-\\xdf][\\x80-\\xbf]', '\\xe0[\\xa0-\\xbf][\\x80-\\xbf]', '[\\xe1-\\xec\\xee\\xef][\\x80-\\xbf]{2}', '\\xed[\\x80-\\x9f][\\x80-\\xbf]',
    '\\xf0[\\x90-\\xbf][\\x80-\\xbf]{2}', '[\\xf1-\\xf3][\\x80-\\xbf]{3}', '\\xf4[\\x80-\\x8f][\\x80-\\xbf]{2}', '[\\s\\S]'
  ].join('|'), 'g');

  function decode_escaped(latin1) {
    var out = '';
    for (var [piece] of latin1.matchAll(UTF_8_PIECES)) {
      var code = piece.charCodeAt(0);
      out += piece.length === 1 && code > 0x7f ? String.fromCharCode(0xDC00 + code) : Buffer.from(piece, 'latin1').utf8Slice();
    }
    return out;
  }

  // Creates literals in an encoding other than UTF-8, or invalid in UTF-8.
  var enc = Opal.enc;
  Opal.enc = function(text, name) {
    var encoding = Opal.find_encoding(name);
    if (encoding === UTF_8) return text.valueOf();
    return of_bytes(encoding) ? Opal.new_bytes(text, encoding) : enc(text, name);
  };
  Opal.binary = (text) => is_bytes(text) ? text : Opal.from_latin1(text);

  function of_bytes(encoding) {
    return encoding !== UTF_8 && !/^UTF-(16|32)/.test(encoding.name);
  }

  // Returns the same bytes in another encoding: a Text is changed, any other string is copied.
  Opal.force_encoding = function(string, name) {
    var encoding = name.$$is_string ? Opal.find_encoding(name) : name;
    if (!(string instanceof Text)) {
      string = string.valueOf();
      if (encoding === UTF_8) return string;
      return of_bytes(encoding) ? Opal.new_bytes(Opal.to_latin1(string), encoding) : enc(string, encoding.name);
    }
    if (encoding === string.encoding) return string;
    writable(string);
    string.content = encoding === UTF_8 ? Opal.from_latin1(string.content) : Opal.to_latin1(string);
    string.encoding = encoding;
    return string;
  };

  function writable(text) {
    if (text.$$frozen) Opal.Kernel.$raise(Opal.FrozenError, `can't modify frozen String: ${text.$inspect()}`);
  }

  // Replaces the content of a Text by another string.
  Opal.become = function(text, other) {
    writable(text);
    text.content = other.valueOf();
    text.encoding = other instanceof Text ? other.encoding : UTF_8;
    return text;
  };

  function sum(left, right) {
    var out = left.valueOf() + right.valueOf();
    if (!is_bytes(left) && !is_bytes(right)) return out;
    if (is_ascii(right)) return is_bytes(left) ? Opal.new_bytes(out, left.encoding) : out;
    if (is_ascii(left)) return is_bytes(right) ? Opal.new_bytes(out, right.encoding) : out;
    if (is_bytes(left) && is_bytes(right)) return Opal.new_bytes(out, left.encoding);
    incompatible(left, right);
  }
  Opal.string_sum = sum;

  function incompatible(left, right) {
    Opal.Kernel.$raise(Opal.Encoding.$$const.CompatibilityError, `incompatible character encodings: ${left.encoding.name} and ${right.encoding.name}`);
  }

  // Creates the combination of several strings, in the encoding of those beyond ASCII, or else of the first.
  function made_of(content, strings) {
    var beyond = strings.filter((one) => !is_ascii(one)), first = beyond[0] || strings[0];
    var other = beyond.find((one) => is_bytes(one) !== is_bytes(first));
    if (other) incompatible(first, other);
    return is_bytes(first) ? Opal.new_bytes(content, first.encoding) : content;
  }

  Opal.interpolate = function(...parts) {
    var out = '';
    for (var i = 0; i < parts.length; i++) {
      var part = parts[i];
      if (typeof part !== 'string') {
        if (part == null) part = '';
        else if (!(part instanceof Text)) part = part.$to_s();
        if (is_bytes(part) && !is_ascii(part)) return parts.reduce((all, one) => sum(all, one == null ? '' : one.$to_s()), '');
      }
      out += part;
    }
    return out;
  };

  var join = Array.prototype.$join;
  Opal.prop(Array.prototype, '$join', function(separator) {
    if (!is_bytes(separator) && this.every((one) => typeof one === 'string' || typeof one === 'number')) return join.call(this, separator);

    var pieces = this.map((one) => joined(one, this, separator)), text = join.call(pieces, separator);
    var strings = pieces.length > 1 ? [...pieces, separator] : pieces;
    return strings.some(is_bytes) && !is_ascii(text) ? made_of(text, strings.filter((one) => one != null && one.$$is_string)) : text;
  });

  // Converts an element of a join to a string, with the conversions in Array#join's order.
  function joined(one, array, separator) {
    if (one == null) return one;
    var text = said(one, '$to_str'), all = text === nil ? said(one, '$to_ary') : nil;
    if (all === array) Opal.Kernel.$raise(Opal.ArgumentError, 'recursive array join');
    return text !== nil ? text : all !== nil ? all.$join(separator) : said(one, '$to_s');
  }

  function said(object, name) {
    return Opal.respond_to(object, name) ? object[name]() : nil;
  }

  // Hash keys are JavaScript strings.
  var rehash = Opal.hash_rehash;
  Opal.hash_rehash = function(hash) {
    var pairs = Array.from(hash);
    if (pairs.some(([key]) => typeof key === 'object' && key.$$is_string)) {
      hash.clear();
      for (var [key, value] of pairs) hash.set(key.$$is_string ? key.valueOf() : key, value);
    }
    return rehash(hash);
  };

  // A part of a binary string is binary, too.
  function keep(piece, whole) {
    if (typeof piece === 'string') return Opal.new_bytes(piece, whole.encoding);
    if (Array.isArray(piece)) return piece.map((one) => keep(one, whole));
    return piece;
  }

  function keep_given(block, whole) {
    var keeping = (...pieces) => pieces.length === 1 ? Opal.yield1(block, keep(pieces[0], whole)) : block(...pieces.map((piece) => keep(piece, whole)));
    keeping.$$arity = block.$$arity;
    return keeping;
  }

  var CUTS = ['[]', 'slice', 'split', 'strip', 'lstrip', 'rstrip', 'chomp', 'chop', 'chr', 'delete_prefix', 'delete_suffix', 'partition', 'rpartition',
              'scan', 'lines', 'delete', 'squeeze', 'reverse', '*', 'each_line', 'each_char', 'chars'];
  for (let cut of CUTS) {
    let name = '$' + cut, whole = String.prototype[name];
    let wrapper = function() {
      var block = wrapper.$$p;
      wrapper.$$p = null;
      whole.$$p = block == null ? null : is_bytes(this) ? keep_given(block, this) : block;
      var piece = whole.apply(this.content, arguments);
      return piece === this.content ? Opal.copy(this) : is_bytes(this) ? keep(piece, this) : piece;
    };
    define(name, wrapper);
  }

  // In a binary string only ASCII letters have cases.
  for (let name of ['$upcase', '$downcase']) {
    let whole = String.prototype[name];
    define(name, function(...options) {
      if (!is_bytes(this)) return whole.apply(this.content, options);
      return keep(this.content.replace(/[a-z]+/gi, (letters) => whole.call(letters)), this);
    });
  }

  // These methods insert other strings: the second argument, or values of a Hash or a block.
  for (let name of ['$sub', '$gsub', '$tr', '$ljust', '$rjust']) {
    let whole = String.prototype[name];
    let wrapper = function(...parameters) {
      var block = wrapper.$$p, more = parameters[1], put = [];
      wrapper.$$p = null;
      if (more !== undefined && more.$$is_hash) block = (match) => more['$[]'](match), parameters.pop();
      else if (more !== undefined) put.push(parameters[1] = Opal.coerce_to(more, Opal.String, 'to_str'));
      whole.$$p = block == null || block === nil ? null : put_given(is_bytes(this) ? keep_given(block, this) : block, put);
      var text = whole.apply(this.content, parameters);
      if (text === this.content) return Opal.copy(this);
      return typeof text === 'string' ? made_of(text, [this, ...put]) : text;
    };
    define(name, wrapper);
  }

  function put_given(block, put) {
    var putting = (...pieces) => {
      var piece = block(...pieces), text = piece.$$is_string ? piece : piece.$to_s();
      if (!is_ascii(text)) put.push(text);
      return text;
    };
    putting.$$arity = block.$$arity;
    return putting;
  }

  for (let name of ['$to_s', '$to_str', '$itself', '$+@']) define(name, function() { return this; });
  define('$dup', function() { return Opal.copy(this); });
  define('$clone', function() {
    var copy = Opal.copy(this);
    if (this.$$frozen) copy.$$frozen = true;
    return copy;
  });
  define('$-@', function() { return is_bytes(this) ? this.$freeze() : this.content; });
  define('$freeze', function() { this.$$frozen = true; return this; });
  define('$frozen?', function() { return this.$$frozen === true; });

  // Opal's own methods compare their arguments as JavaScript strings.
  for (let name of ['$coerce_to!', '$coerce_to?']) {
    let whole = Opal.Opal[name];
    Opal.defs(Opal.Opal, name, function(object, type) {
      return type === Opal.String && object != null && object.$$is_string ? object.valueOf() : whole.apply(this, arguments);
    });
  }

  // ---- changes in place ----

  function chr(code, text) {
    if (!is_bytes(text)) return String.fromCodePoint(code);
    if (code < 0 || code > 255) Opal.Kernel.$raise(Opal.RangeError, `${code} out of char range`);
    return Opal.new_bytes(String.fromCharCode(code), text.encoding);
  }

  function at_index(text, at) {
    return at < 0 ? text.$length() + at + 1 : at;
  }

  // The new string for each method name.
  var NEW = {
    '<<': (text, more) => sum(text, typeof more === 'number' ? chr(more, text) : Opal.coerce_to(more, Opal.String, 'to_str')),
    append_as_bytes: (text, ...more) => more.reduce((all, one) => Opal.new_bytes(Opal.to_latin1(all) + (typeof one === 'number' ? String.fromCharCode(one & 255) : Opal.to_latin1(one))), text),
    clear: (text) => is_bytes(text) ? Opal.new_bytes('', text.encoding) : '',
    concat: (text, ...more) => more.reduce((all, one) => NEW['<<'](all, one), text),
    insert: (text, at, more) => sum(sum(text['$[]'](0, at_index(text, at)), more), text['$[]'](at_index(text, at), text.$length())),
    prepend: (text, ...more) => sum(more.reduce((all, one) => sum(all, one), ''), text),
    replace: (text, other) => other,
    setbyte: (text, at, byte) => {
      var latin1 = Opal.to_latin1(text), index = at < 0 ? latin1.length + at : at;
      latin1 = latin1.slice(0, index) + String.fromCharCode(byte & 255) + latin1.slice(index + 1);
      return is_bytes(text) ? Opal.new_bytes(latin1, text.encoding) : Opal.from_latin1(latin1);
    },
    '[]=': (text, ...parameters) => {
      var value = parameters.pop(), [at, length] = place(text, parameters);
      return sum(sum(text['$[]'](0, at), value), text['$[]'](at + length, text.$length()));
    }
  };
  var SELF = ['scrub!', 'unicode_normalize!', 'reverse!', 'encode!', 'succ!', 'next!', '<<', 'append_as_bytes', 'clear', 'concat', 'insert', 'prepend', 'replace'];

  // Finds the part named by an index, a length, a range, a string or an expression.
  function place(text, parameters) {
    var [first, second] = parameters, piece = Opal.send(text, '[]', parameters);
    var size = text.$length();
    if (piece === nil) {
      if (typeof first === 'number' && first === size && second !== undefined) return [first, 0];
      if (first.$$is_string || first instanceof RegExp) Opal.Kernel.$raise(Opal.IndexError, first.$$is_string ? 'string not matched' : 'regexp not matched');
      Opal.Kernel.$raise(Opal.IndexError, `index ${first.$inspect()} out of string`);
    }
    if (typeof first === 'number') return [first < 0 ? size + first : first, piece.$length()];
    if (first.$$is_string) return [text.$index(first), piece.$length()];
    if (first instanceof RegExp) return [Opal.characters_in(text, Opal.gvars['~'].$begin(second === undefined ? 0 : second)), piece.$length()];
    var begin = first.$begin() === nil ? 0 : first.$begin();
    return [begin < 0 ? size + begin : begin, piece.$length()];
  }

  Opal.append = function(text, more) {
    if (typeof text === 'string') return typeof more === 'string' ? text + more : NEW['<<'](text, more);
    if (!(text instanceof Text)) return text['$<<'](more);
    return Opal.become(text, NEW['<<'](text, more));
  };

  Opal.block = (block, known) => Object.assign(block, typeof known === 'number' ? { $$arity: known } : known);

  Opal.change = function(text, name, parameters, block, set) {
    if (text == null || !text.$$is_string) return Opal.send(text, name, parameters, block);
    if (text instanceof Text) set = (changed) => Opal.become(text, changed);
    if (name === 'slice!') return slice(text, parameters, set);

    var changed = NEW[name] ? NEW[name](text, ...parameters) : Opal.send(text, name.slice(0, -1), parameters, block);
    var same = changed.valueOf() === text.valueOf() && changed.encoding === text.encoding;
    if (!same || NEW[name]) set(changed);
    if (name === '[]=' || name === 'setbyte') return parameters[parameters.length - 1];
    return !same || SELF.includes(name) ? text instanceof Text ? text : changed : nil;
  };

  function slice(text, parameters, set) {
    var piece = Opal.send(text, '[]', parameters);
    if (piece === nil) return nil;
    var [at, length] = place(text, parameters);
    set(sum(text['$[]'](0, at), text['$[]'](at + length, text.$length())));
    return piece;
  }

  Opal.nobody_holds = function() {};

  function frozen(holder) {
    Opal.Kernel.$raise(Opal.FrozenError, `this string is frozen, because ${holder} it: create the string with +"" or String.new to change it in place`);
  }

  Opal.constant_holds = () => frozen('a constant holds');
  Opal.caller_holds = () => frozen('the caller holds');
  Opal.variable_holds = () => frozen('another variable holds');

  Opal.change_unless_nil = (text, name, parameters, block) => text == null || text === Opal.nil ? Opal.nil : Opal.change(text, name, parameters, block, Opal.nobody_holds);

  Opal.change_each = function(list, name) {
    if (!Array.isArray(list)) return Opal.send(list, 'each', [], Opal.symbol(name).$to_proc());
    for (let i = 0; i < list.length; i++) change_held(list[i], name, [], Opal.nil, (changed) => { list[i] = changed; });
    return list;
  };

  // For a call that the compiler could not see (send or &:upcase!), there is no known holder for the new string.
  for (let name of ['<<', 'append_as_bytes', 'capitalize!', 'chomp!', 'chop!', 'clear', 'concat', 'delete!', 'delete_prefix!', 'delete_suffix!', 'downcase!', 'encode!',
                    'gsub!', 'insert', 'lstrip!', 'next!', 'prepend', 'replace', 'initialize_copy', 'reverse!', 'rstrip!', 'scrub!', 'setbyte', 'slice!', 'squeeze!',
                    'strip!', 'sub!', 'succ!', 'swapcase!', 'tr!', 'tr_s!', 'unicode_normalize!', 'upcase!', '[]=']) {
    let wrapper = function(...parameters) {
      var block = wrapper.$$p;
      wrapper.$$p = null;
      return Opal.change(this.valueOf(), name === 'initialize_copy' ? 'replace' : name, parameters, block == null ? nil : block, () => frozen('other code may hold'));
    };
    Opal.prop(String.prototype, '$' + name, wrapper);
  }

  // A container receives a Text, which later readers share.
  function change_held(text, name, parameters, block, set) {
    if (typeof text !== 'string') return Opal.change(text, name, parameters, block, set);

    var held = Opal.new_text(text), result = Opal.change(held, name, parameters, block);
    if (held.content !== text || held.encoding !== UTF_8) set(held);
    return result;
  }

  Opal.change_element = function(holder, keys, name, parameters, block) {
    return change_held(Opal.send(holder, '[]', keys), name, parameters, block, (changed) => Opal.send(holder, '[]=', [...keys, changed]));
  };

  Opal.change_attribute = function(holder, reader, name, parameters, block) {
    var text = Opal.send(holder, reader, []);
    return change_held(text, name, parameters, block, (changed) => hold(holder, reader, text, changed));
  };

  // Methods that usually create a new string without a holder, unless an attribute has such a name.
  var FRESH = ['new', 'dup', 'clone', 'to_s', 'inspect', 'name', 'join', 'chomp', 'strip', 'downcase', 'upcase', 'class'];

  function hold(holder, reader, text, changed) {
    var variable = '@' + reader;
    if (holder.$$is_string) return;
    if (Opal.truthy(holder['$respond_to?'](reader + '='))) return Opal.send(holder, reader + '=', [changed]);
    if (holder.$instance_variable_get(variable) === text) return holder.$instance_variable_set(variable, changed);
    if (FRESH.includes(reader)) return;
    Opal.Kernel.$raise(Opal.NotImplementedError, `this string is frozen, and ${holder.$class().$name()} has no method ${reader}= for a new one: create the string with +"" or String.new`);
  }

  for (let name of ['<<', 'append_as_bytes', 'capitalize!', 'chomp!', 'chop!', 'clear', 'concat', 'delete!', 'delete_prefix!', 'delete_suffix!', 'downcase!', 'encode!',
                    'gsub!', 'insert', 'lstrip!', 'next!', 'prepend', 'replace', 'initialize_copy', 'reverse!', 'rstrip!', 'scrub!', 'setbyte', 'slice!', 'squeeze!',
                    'strip!', 'sub!', 'succ!', 'swapcase!', 'tr!', 'tr_s!', 'unicode_normalize!', 'upcase!', '[]=']) {
    let wrapper = function(...parameters) {
      var block = wrapper.$$p;
      wrapper.$$p = null;
      return Opal.change(this, name === 'initialize_copy' ? 'replace' : name, parameters, block == null ? nil : block);
    };
    define('$' + name, wrapper);
  }
})(Opal);
