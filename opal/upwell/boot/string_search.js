// Extends Opal's search methods of String.
(function(Opal) {
  'use strict'; // keeps `this` a primitive string
  var nil = Opal.nil, PAIR = /[\ud800-\udbff][\udc00-\udfff]/;

  function wrap(name, body) {
    var plain = String.prototype[name];
    var wrapper = function(...parameters) {
      var block = wrapper.$$p;
      wrapper.$$p = null;
      return body(this, parameters, plain, block == null ? nil : block);
    };
    Opal.prop(String.prototype, name, wrapper);
  }

  // An empty match lies between characters, not within one.
  function in_characters(text, pattern) {
    return pattern != null && pattern.$$is_string && pattern.length === 0 && PAIR.test(text) ? Opal.translated_regexp('', '') : pattern;
  }

  wrap('$gsub', (text, [pattern, ...more], plain, block) => {
    plain.$$p = block;
    return plain.call(text, in_characters(text, pattern), ...more);
  });

  // The block may itself scan with the same expression.
  wrap('$scan', (text, [pattern, ...more], plain, block) => {
    pattern = in_characters(text, pattern);
    plain.$$p = block !== nil && pattern instanceof RegExp ? going_on(Opal.global_multiline_regexp(pattern), block) : block;
    return plain.call(text, pattern, ...more);
  });

  function going_on(global, block) {
    return (found) => {
      var at = global.lastIndex, result = Opal.yield1(block, found);
      global.lastIndex = at;
      return result;
    };
  }

  for (let name of ['$partition', '$rpartition']) {
    wrap(name, (text, [separator], plain) => {
      if (separator instanceof RegExp) Opal.gvars['~'] = nil; // set again when the separator is found
      return plain.call(text, separator);
    });
  }

  // JavaScript's own split is fast only with the native exec.
  wrap('$split', (text, [pattern, ...more], plain) => {
    var paired = PAIR.test(text);
    if (paired) pattern = in_characters(text, pattern);
    return plain.call(text, pattern instanceof RegExp ? splitting(pattern, paired) : pattern, ...more);
  });

  var copies = new WeakMap(), copies_for_pairs = new WeakMap();

  function splitting(pattern, paired) {
    var kept = paired ? copies_for_pairs : copies, copied = kept.get(pattern);
    if (!copied) kept.set(pattern, copied = copy(pattern, paired));
    return copied;
  }

  function copy(pattern, paired) {
    var flags = pattern.flags.replace('g', '') + (paired && !pattern.unicode && !pattern.unicodeSets ? 'u' : '');
    var copied = new RegExp(pattern.source, flags);
    copied.$$g = copied.$$gm = new RegExp(pattern.source, flags + 'g');
    return copied;
  }
})(Opal);
