// This file implements catch and throw. A thrown object is not an error: no rescue catches it, and it has no backtrace.
(function(Opal) {
  class Thrown {
    constructor(tag, value) {
      this.tag = tag;
      this.value = value;
    }
  }
  Opal.prop(Thrown.prototype, '$$class', Opal.Object);
  Opal.prop(Thrown.prototype, '$$is_thrown', true);

  var tags = [];
  var same = (one, other) => one === other || (one.$$is_string && other.$$is_string && one.valueOf() === other.valueOf());

  function define(name, body) {
    Opal.def(Opal.Kernel, name, body);
    Opal.defs(Opal.Kernel, name, body);
  }

  define('$catch', function $catch(tag) {
    var block = $catch.$$p;
    $catch.$$p = null;
    if (tag === undefined) tag = Opal.Object.$new();
    tags.push(tag);
    try {
      return Opal.yield1(block, tag);
    } catch (thrown) {
      if (thrown instanceof Thrown && same(thrown.tag, tag)) return thrown.value;
      throw thrown;
    } finally {
      tags.pop();
    }
  });

  define('$throw', function(tag, value) {
    if (!tags.some((one) => same(one, tag))) Opal.Kernel.$raise(Opal.UncaughtThrowError.$new(tag, value === undefined ? Opal.nil : value));
    throw new Thrown(tag, value === undefined ? Opal.nil : value);
  });
})(Opal);
