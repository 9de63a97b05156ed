// Methods for strings with surrogate pairs: length, indices and pieces count characters, and not code units.
(function(Opal) {
  var PAIR = /[\ud800-\udbff][\udc00-\udfff]/, nil = Opal.nil;

  // Counts the characters in the first code units.
  Opal.characters_in = (string, units) => Array.from(string.valueOf().slice(0, units)).length;

  // Converts a character index to a code unit index. Beyond either end, each character counts as one unit.
  Opal.units_of = function(text, characters) {
    var all = Array.from(text), from_start = characters < 0 ? characters + all.length : characters;
    if (from_start < 0) return -text.length - 1;
    return all.slice(0, from_start).join('').length + Math.max(0, from_start - all.length);
  };

  // Wraps a method for strings with surrogate pairs. The body receives a primitive string.
  function where_paired(name, body) {
    var plain = String.prototype[name];
    var wrapper = function(...parameters) {
      var text = this.valueOf(), block = wrapper.$$p;
      wrapper.$$p = null;
      if (PAIR.test(text)) return body(text, parameters, plain, block == null ? nil : block);
      plain.$$p = block;
      return plain.apply(this, parameters);
    };
    Opal.prop(String.prototype, name, wrapper);
  }

  for (let name of ['$length', '$size']) where_paired(name, (text) => Array.from(text).length);

  for (let name of ['$[]', '$slice']) {
    where_paired(name, (text, parameters, plain) => {
      if (!parameters.every((one) => typeof one === 'number' || one.$$is_range)) return plain.apply(text, parameters);
      var found = Opal.send(Array.from(text), '[]', parameters);
      return Array.isArray(found) ? found.join('') : found;
    });
  }

  for (let name of ['$index', '$rindex']) {
    where_paired(name, (text, [searched, offset], plain) => {
      var at = offset === undefined || offset === nil ? plain.call(text, searched) : plain.call(text, searched, Opal.units_of(text, offset));
      return at === nil ? nil : Opal.characters_in(text, at);
    });
  }

  // The text is padded with placeholders, and restored afterwards.
  for (let name of ['$ljust', '$rjust', '$center']) {
    where_paired(name, (text, parameters, plain) => plain.apply('\0'.repeat(Array.from(text).length), parameters).replace(/\0+/, () => text));
  }

  for (let name of ['$codepoints', '$each_codepoint']) {
    where_paired(name, (text, _parameters, _plain, block) => {
      var points = Array.from(text, (character) => character.codePointAt(0));
      return block === nil ? points : (points.forEach((point) => block(point)), text);
    });
  }

  where_paired('$reverse', (text) => Array.from(text).reverse().join(''));
  where_paired('$chr', (text) => Array.from(text)[0]);
  where_paired('$chop', (text) => Array.from(text).slice(0, -1).join(''));
  where_paired('$each_char', (text, _parameters, _plain, block) => {
    var characters = Array.from(text);
    if (block === nil) return characters.$each();
    characters.forEach((character) => block(character));
    return text;
  });
})(Opal);
