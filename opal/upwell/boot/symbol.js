// Symbols. Opal's symbols are strings. Here the literals of the application and its gems, and the results of to_sym, have their own class, so
// that `when String` and `when Symbol` distinguish them. They still equal strings: Hash keys, method names and keywords are strings in Opal.
(function(Opal) {
  class Name {
    constructor(content) {
      this.content = content;
    }
  }
  Object.setPrototypeOf(Name.prototype, String.prototype);

  // Symbols that are kept for reuse, up to a limit. Beyond it, names that clients invent (keys converted by to_sym, for example) live only as
  // long as they are used.
  var KEPT_MAX = 10000, KEPT_LENGTH_MAX = 100, names = new Map();

  Opal.symbol = function(content) {
    content = content.valueOf();
    var name = names.get(content);
    if (name) return name;

    name = new Name(content);
    if (names.size < KEPT_MAX && content.length <= KEPT_LENGTH_MAX) names.set(content, name);
    return name;
  };

  function define(name, body) {
    Opal.prop(Name.prototype, name, body);
  }

  define('toString', function() { return this.content; });
  define('valueOf', function() { return this.content; });
  define('toJSON', function() { return this.content; });
  Object.defineProperty(Name.prototype, 'length', { get() { return this.content.length; } });

  // Opal defines Symbol as another name of String.
  delete Opal.Object.$$const.Symbol;
  var Symbol = Opal.klass(Opal.Object, Opal.Object, 'Symbol');
  Symbol.$include(Opal.Comparable);
  define('$$class', Symbol);

  function quoted(name) {
    return /^(?:[a-z_]\w*[?!=]?|@{0,2}[a-z_]\w*|\$\w+|\[\]=?|[+\-*\/%<>!~^&|]|\*\*|<=>|===?|=~|![=~]|<<|>>|<=|>=|[+-]@)$/i.test(name) ? name : name.$inspect();
  }

  for (let name of ['$to_s', '$id2name', '$name', '$to_str']) define(name, function() { return this.content; });
  for (let name of ['$to_sym', '$intern', '$itself', '$dup', '$clone', '$freeze']) define(name, function() { return this; });
  define('$inspect', function() { return ':' + quoted(this.content); });
  define('$frozen?', () => true);
  define('$class', () => Symbol);
  for (let name of ['$upcase', '$downcase', '$capitalize', '$swapcase', '$succ']) {
    let whole = String.prototype[name];
    define(name, function() { return Opal.symbol(whole.apply(this.content, arguments)); });
  }
  define('$<=>', function(other) { return other != null && other.$$is_string ? String.prototype['$<=>'].call(this.content, other.valueOf()) : Opal.nil; });
  define('$is_a?', function(klass) { return Opal.is_a(this, klass); });
  define('$respond_to?', function(name, all) { return name.valueOf() !== 'to_str' && String.prototype['$respond_to?'].call(this, name, all === undefined ? false : all); });
  define('$instance_of?', function(klass) { return klass === Symbol; });

  for (let name of ['$to_sym', '$intern']) Opal.prop(String.prototype, name, function() { return Opal.symbol(this); });
  for (let name of ['$to_sym', '$intern']) define(name, function() { return this; });

  Opal.SymbolOrString = { '$===': (other) => other != null && other.$$is_string === true };

  Opal.defs(Symbol, '$===', (other) => other instanceof Name);
  Opal.defs(Symbol, '$all_symbols', () => Array.from(names.values()));
})(Opal);
