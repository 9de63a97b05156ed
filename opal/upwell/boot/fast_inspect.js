// A fast `inspect` for most collections and each env. Opal's own gives each String an object id and keeps both permanently. It also escapes
// text without special characters, and gives each Hash an id to detect recursion.
(function(Opal) {
  const PLAIN = /^[ !$-\[\]-~]*$/; // no quote, backslash or #
  const SPECIAL = /["\\]|#[{$@]|[\p{C}\p{Zl}\p{Zp}]/gu, SPECIAL_BYTE = /["\\]|#[{$@]|[^ -~]/g;
  const ESCAPES = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\f': '\\f', '\v': '\\v', '\b': '\\b', '\x07': '\\a', '\x1b': '\\e' };
  const inspect = Opal.Opal.$inspect, inspectArray = Array.prototype.$inspect, within = new Set(), hashes = new Set(), nil = Opal.nil;
  const methods = new WeakSet(); // methods that inspect, without stubs
  const KNOWN_MAX = 512, KEY_LENGTH_MAX = 64, VALUE_LENGTH_MAX = 256, known = new Map();
  const hex = (code, digits) => code.toString(16).toUpperCase().padStart(digits, '0');

  function escape(piece) {
    const code = piece.codePointAt(0);

    if (ESCAPES[piece]) return ESCAPES[piece];
    if (piece[0] === '#') return '\\' + piece;
    if (code >= 0xDC80 && code <= 0xDCFF) return '\\x' + hex(code - 0xDC00, 2);
    return code < 0x80 ? '\\x' + hex(code, 2) : code > 0xffff ? '\\u{' + hex(code, 5) + '}' : '\\u' + hex(code, 4);
  }

  function quote(text) {
    if (PLAIN.test(text)) return '"' + text + '"';
    return '"' + text.replace(SPECIAL, piece => (piece < '\x20' || piece === '\x7f') && !ESCAPES[piece] ? '\\u' + hex(piece.charCodeAt(0), 4) : escape(piece)) + '"';
  }

  // The text of a name with its last value: names repeat, mostly with the same value. Flat text avoids that each use copies its pieces.
  class Pair {
    constructor(key) {
      this.name = flat(", " + quote(key) + "=>");
      this.value = null; // the last value
      this.text = null; // the text with that value, once the value has repeated
    }
    with(value) {
      if (value !== this.value) {
        this.value = value.length <= VALUE_LENGTH_MAX ? own(value) : null;
        this.text = null;
      } else if (this.text === null) {
        this.text = flat(this.name + quote(value));
      }
      return this.text === null ? this.name + quote(value) : this.text;
    }
  }

  function flat(text) {
    PLAIN.test(text);
    return text;
  }

  // Copies the text: a slice would keep the whole string in memory.
  function own(text) {
    return flat(" " + text).slice(1);
  }

  function inspectPair(key, value) {
    if (typeof key !== "string") return ", " + inspectAny(key) + "=>" + inspectAny(value);
    const pair = known.get(key) || newPair(key);

    return typeof value === "string" ? pair.with(value) : pair.name + inspectAny(value);
  }

  function newPair(key) {
    const pair = new Pair(key);

    if (key.length > KEY_LENGTH_MAX) return pair;
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(own(key), pair);
    return pair;
  }

  // For a JavaScript engine, a missing property of a function is slower to find than all other work here.
  function has(method) {
    if (methods.has(method)) return true;
    if (typeof method !== "function" || method.$$stub) return false;
    methods.add(method);
    return true;
  }

  function inspectAny(value) {
    if (typeof value === "string") return quote(value);
    if (value === nil) return nil.$inspect();
    if (Array.isArray(value) && value.length === 0 && value.$inspect === inspectArray) return "[]"; // Opal's inspect would give it an id, too
    if (!value || !value.$$class || !has(value.$inspect) || within.has(value)) return inspect.call(Opal.Opal, value);
    within.add(value);
    try {
      return value.$inspect();
    } finally {
      within.delete(value);
    }
  }

  Opal.defs(Opal.Opal, "$inspect", inspectAny);
  Opal.def(Opal.String, "$inspect", function() {
    const text = this.valueOf();

    if (!Opal.is_bytes(this) || PLAIN.test(text)) return quote(text);
    return '"' + text.replace(SPECIAL_BYTE, piece => piece > '\x7f' ? '\\x' + hex(piece.charCodeAt(0), 2) : escape(piece)) + '"';
  });
  Opal.def(Opal.Hash, "$inspect", function() {
    let text = "{";

    if (hashes.has(this)) return "{...}";
    hashes.add(this);
    try {
      this.forEach((value, key) => {
        const pair = inspectPair(key, value);

        text += text.length === 1 ? pair.slice(2) : pair;
      });
    } finally {
      hashes.delete(this);
    }
    return text + "}";
  });
  Opal.alias(Opal.Hash, "to_s", "inspect");
})(Opal);
