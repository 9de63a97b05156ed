// What `inspect` finds in most collections, and in each env: Opal gives every String that it looks at a number of its own, and keeps both for
// ever; it escapes what has nothing to escape, and numbers a Hash to know it again within itself.
(function(Opal) {
  const PLAIN = /^[ !$-\[\]-~]*$/; // neither a quote, a backslash nor a #
  const SPECIAL = /["\\]|#[{$@]|[\p{C}\p{Zl}\p{Zp}]/gu, SPECIAL_BYTE = /["\\]|#[{$@]|[^ -~]/g;
  const ESCAPES = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\f': '\\f', '\v': '\\v', '\b': '\\b', '\x07': '\\a', '\x1b': '\\e' };
  const inspect = Opal.Opal.$inspect, inspectArray = Array.prototype.$inspect, within = [], hashes = [];
  const KNOWN_MAX = 512, KNOWN_LENGTH_MAX = 32, known = new Map();
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

  // Names are told again and again.
  function quoteAgain(text) {
    let quoted = known.get(text);

    if (quoted === undefined) {
      quoted = quote(text);
      if (text.length <= KNOWN_LENGTH_MAX && known.size < KNOWN_MAX) known.set(text, quoted);
    }
    return quoted;
  }

  function inspectAny(value) {
    if (typeof value === "string") return quoteAgain(value);
    if (value && value.$inspect === inspectArray && value.length === 0) return "[]"; // which would be numbered, too
    if (!value || !value.$$class || typeof value.$inspect !== "function" || value.$inspect.$$stub || within.includes(value))
      return inspect.call(Opal.Opal, value);
    within.push(value);
    try {
      return value.$inspect();
    } finally {
      within.pop();
    }
  }

  Opal.defs(Opal.Opal, "$inspect", inspectAny);
  Opal.def(Opal.String, "$inspect", function() {
    const text = this.valueOf();

    if (!Opal.is_bytes(this) || PLAIN.test(text)) return quote(text);
    return '"' + text.replace(SPECIAL_BYTE, piece => piece > '\x7f' ? '\\x' + hex(piece.charCodeAt(0), 2) : escape(piece)) + '"';
  });
  Opal.def(Opal.Hash, "$inspect", function() {
    let pairs = "";

    if (hashes.includes(this)) return "{...}";
    hashes.push(this);
    try {
      this.forEach((value, key) => { pairs += (pairs && ", ") + inspectAny(key) + "=>" + inspectAny(value); });
    } finally {
      hashes.pop();
    }
    return "{" + pairs + "}";
  });
  Opal.alias(Opal.Hash, "to_s", "inspect");
})(Opal);
