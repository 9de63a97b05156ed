// Parses JSON. JavaScript's own parser would move numeric keys to the front.
(function(Opal) {
  var NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y, SPACE = /(?:[ \t\r\n]|\/\*[\s\S]*?\*\/|\/\/[^\n]*)*/y;
  var WORDS = { null: Opal.nil, true: true, false: false }, NOT_FINITE = { NaN: NaN, Infinity: Infinity, '-Infinity': -Infinity };

  function option(options, name, otherwise) {
    var value = options.get(name);
    return value === undefined ? otherwise : value;
  }

  // Half of a surrogate pair is not a character. Other escapes are matched whole, so that no half is found within them.
  var HALF = /(\\u[dD][89abAB][0-9a-fA-F]{2})(\\u[dD][c-fC-F][0-9a-fA-F]{2})?|(\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\[\s\S]/g;

  function refuse_halves(literal) {
    for (var [, first, second, last] of literal.matchAll(HALF)) if (last || (first && !second)) throw new SyntaxError('half a character');
  }

  class Parser {
    constructor(text, options) {
      this.text = text;
      this.at = 0;
      this.depth_max = option(options, 'max_nesting', Opal.JSON.$$const.NESTING_MAX);
      this.words = Opal.truthy(option(options, 'allow_nan', false)) ? { ...WORDS, ...NOT_FINITE } : WORDS;
      this.object_class = option(options, 'object_class', Opal.nil);
      this.array_class = option(options, 'array_class', Opal.nil);
    }

    whole() {
      var value = this.value(0);
      if (this.at < this.text.length) this.fail();
      return value;
    }

    fail() {
      var found = this.text.slice(this.at, this.at + 20);
      Opal.Kernel.$raise(Opal.JSON.$$const.ParserError, found ? `unexpected token at '${found}'` : 'unexpected end of input');
    }

    skip() {
      SPACE.lastIndex = this.at;
      SPACE.exec(this.text);
      this.at = SPACE.lastIndex;
    }

    // Parses a value with surrounding white space.
    value(depth) {
      this.skip();
      var first = this.text[this.at], value;
      if (first === '{') value = this.object(depth + 1);
      else if (first === '[') value = this.array(depth + 1);
      else if (first === '"') value = this.string();
      else value = this.atom();
      this.skip();
      return value;
    }

    enter(depth) {
      if (this.depth_max && depth > this.depth_max) Opal.Kernel.$raise(Opal.JSON.$$const.NestingError, `nesting of ${depth} is too deep`);
      this.at++;
      this.skip();
    }

    // Checks whether another element follows; otherwise it consumes the closing bracket.
    more(ending) {
      var next = this.text[this.at];
      if (next !== ',' && next !== ending) this.fail();
      this.at++;
      return next === ',';
    }

    object(depth) {
      var hash = this.object_class === Opal.nil ? new Map() : this.object_class.$new();
      this.enter(depth);
      if (this.text[this.at] === '}') return this.at++, hash;
      do {
        this.skip();
        if (this.text[this.at] !== '"') this.fail();
        var key = this.string();
        this.skip();
        if (this.text[this.at++] !== ':') this.at--, this.fail();
        var value = this.value(depth);
        if (this.object_class === Opal.nil) hash.set(key, value);
        else hash['$[]='](key, value);
      } while (this.more('}'));
      return hash;
    }

    array(depth) {
      var array = this.array_class === Opal.nil ? [] : this.array_class.$new();
      this.enter(depth);
      if (this.text[this.at] === ']') return this.at++, array;
      do array['$<<'](this.value(depth)); while (this.more(']'));
      return array;
    }

    string() {
      var from = this.at, end = from;
      do end = this.text.indexOf('"', end + 1); while (end >= 0 && this.escaped(end));
      if (end < 0) this.fail();
      var literal = this.text.slice(from, this.at = end + 1);
      if (!/[\\\x00-\x1f]/.test(literal)) return literal.slice(1, -1);
      try {
        refuse_halves(literal);
        return JSON.parse(literal);
      } catch {
        this.at = from;
        this.fail();
      }
    }

    escaped(at) {
      var from = at;
      while (this.text[from - 1] === '\\') from--;
      return (at - from) % 2 === 1;
    }

    atom() {
      NUMBER.lastIndex = this.at;
      var number = NUMBER.exec(this.text);
      if (number && !this.text.startsWith('-Infinity', this.at)) return this.at = NUMBER.lastIndex, Number(number[0]);
      var word = Object.keys(this.words).find((one) => this.text.startsWith(one, this.at));
      if (word === undefined) this.fail();
      this.at += word.length;
      return this.words[word];
    }
  }

  Opal.parse_json = function(source, options) {
    return new Parser(Opal.is_bytes(source) ? Opal.from_latin1(source) : source.valueOf(), options).whole();
  };
})(Opal);
