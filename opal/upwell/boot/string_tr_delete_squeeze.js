// tr, delete, count and squeeze for strings with surrogate pairs.
(function(Opal) {
  'use strict'; // keeps `this` a primitive string
  var PAIR = /[\ud800-\udbff][\udc00-\udfff]/;

  // Parses "^a-c" to { negated: true, ranges: [[97, 99]] }, with code points.
  function parse(set) {
    var all = Array.from(set), negated = all.length > 1 && all[0] === '^', ranges = [];
    if (negated) all.shift();
    for (var i = 0; i < all.length; i++) {
      if (all[i] === '\\' && i + 1 < all.length) i++;
      else if (all[i] === '-' && ranges.length > 0 && i + 1 < all.length) {
        ranges[ranges.length - 1][1] = all[++i].codePointAt(0);
        continue;
      }
      ranges.push([all[i].codePointAt(0), all[i].codePointAt(0)]);
    }
    return { negated, ranges };
  }

  // Returns the character's index in the set, or -1.
  function place(ranges, character) {
    var point = character.codePointAt(0), before = 0;
    for (var [from, to] of ranges) {
      if (point >= from && point <= to) return before + point - from;
      before += to - from + 1;
    }
    return -1;
  }

  function at(ranges, place) {
    for (var [from, to] of ranges) {
      if (place <= to - from) return String.fromCodePoint(from + place);
      place -= to - from + 1;
    }
    return ranges.length === 0 ? '' : String.fromCodePoint(ranges[ranges.length - 1][1]);
  }

  function text_of(set) {
    return Opal.coerce_to(set, Opal.String, 'to_str').valueOf();
  }

  function chosen(sets) {
    var parsed = sets.map((set) => parse(text_of(set)));
    return (character) => parsed.every(({ negated, ranges }) => (place(ranges, character) >= 0) !== negated);
  }

  var METHODS = {
    $count: (text, sets) => Array.from(text).filter(chosen(sets)).length,
    $delete: (text, sets) => {
      var goes = chosen(sets);
      return Array.from(text).filter((character) => !goes(character)).join('');
    },
    $squeeze: (text, sets) => {
      var squeezes = chosen(sets);
      return Array.from(text).filter((character, index, all) => character !== all[index - 1] || !squeezes(character)).join('');
    },
    $tr: (text, [from, to]) => {
      var given = parse(text_of(from)), put = parse(text_of(to));
      return Array.from(text, (character) => {
        var found = place(given.ranges, character);
        if (given.negated) return found < 0 ? at(put.ranges, Infinity) : character;
        return found < 0 ? character : at(put.ranges, found);
      }).join('');
    }
  };

  for (let [name, body] of Object.entries(METHODS)) {
    let plain = String.prototype[name];
    Opal.prop(String.prototype, name, function(...parameters) {
      var paired = PAIR.test(this) || (name === '$tr' && PAIR.test(parameters[1]));
      return paired && (parameters.length > 0 || name === '$squeeze') ? body(this.valueOf(), parameters) : plain.apply(this, parameters);
    });
  }
})(Opal);
