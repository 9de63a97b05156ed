// Generates JSON. A value without a JSON form raises an error.
(function(Opal) {
  var nil = Opal.nil;
  var PLAIN = new Map();

  function given(options, name, otherwise) {
    var value = options.get(name);
    return value === undefined || value === nil ? otherwise : value;
  }

  function fail(error, message) {
    Opal.Kernel.$raise(Opal.JSON.$$const[error], message);
  }

  function refuse(value) {
    fail('GeneratorError', `${value} not allowed in JSON`);
  }

  function number(value, options) {
    return Number.isFinite(value) || given(options, 'allow_nan', false) ? String(value) : refuse(value);
  }

  function escaped(unit) {
    return unit === '/' ? '\\/' : '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0');
  }

  function string(value, options) {
    var text = Opal.is_bytes(value) ? Opal.from_latin1(value) : value.valueOf();
    if (!text.isWellFormed()) fail('GeneratorError', 'source sequence is illegal/malformed utf-8');
    text = JSON.stringify(text);
    if (given(options, 'ascii_only', false)) text = text.replace(/[^\x00-\x7f]/g, escaped);
    if (given(options, 'script_safe', given(options, 'escape_slash', false))) text = text.replace(/[\/\u2028\u2029]/g, escaped);
    return text;
  }

  function list(pieces, opening, closing, newline, options, depth) {
    var indent = given(options, 'indent', '');
    if (pieces.length === 0) return opening + closing;
    return opening + newline + pieces.map((piece) => (newline && indent.repeat(depth)) + piece).join(',' + newline) + newline +
      (newline && indent.repeat(depth - 1)) + closing;
  }

  function enter(options, depth) {
    var most = given(options, 'max_nesting', Opal.JSON.$$const.NESTING_MAX);
    if (most && depth > most) fail('NestingError', `nesting of ${depth} is too deep`);
  }

  function array(values, options, depth) {
    enter(options, depth);
    return list(values.map((value) => generated(value, options, depth)), '[', ']', given(options, 'array_nl', ''), options, depth);
  }

  function object(hash, options, depth) {
    var colon = given(options, 'space_before', '') + ':' + given(options, 'space', '');
    enter(options, depth);
    var pairs = Array.from(hash, ([key, value]) => string(key.$to_s(), options) + colon + generated(value, options, depth));
    return list(pairs, '{', '}', given(options, 'object_nl', ''), options, depth);
  }

  // Generates a nested value, with the class's own to_json if it has one.
  function generated(value, options, depth) {
    if (value == null || value === nil) return 'null';
    return value.$to_json.$$own ? plain(value, options, depth) : value.$to_json(options);
  }

  function plain(value, options, depth) {
    if (value === nil) return 'null';
    if (value.$$is_boolean) return String(value);
    if (value.$$is_number) return number(value.valueOf(), options);
    if (value.$$is_string) return string(value, options);
    if (value.$$is_array) return array(value, options, depth + 1);
    if (value.$$is_hash) return object(value, options, depth + 1);
    return string(value.$to_s(), options);
  }

  Opal.generate_json = (value, options) => generated(value, options, 0);

  Opal.def(Opal.Kernel, '$to_json', Object.assign(function(options) {
    return plain(this, options && options.$$is_hash ? options : PLAIN, 0);
  }, { $$own: true, $$arity: -1 }));
})(Opal);
