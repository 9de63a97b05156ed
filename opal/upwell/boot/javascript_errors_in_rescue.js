// Errors that JavaScript itself throws, for example for a method call on a missing argument, count as StandardError in `rescue`. A stack
// overflow does not, as in Ruby.
(function(Opal) {
  var UNDEFINED = /^(?:Cannot read properties of (?:undefined|null)|.* is not a function|(?:undefined|null) is not an object)/;
  var NATIVE = [TypeError, ReferenceError, SyntaxError, URIError];

  function is_native(error) { return NATIVE.some((kind) => Object.getPrototypeOf(error) === kind.prototype); }

  // Checks whether a method was called on undefined or null.
  function calls_nothing(error) { return Object.getPrototypeOf(error) === TypeError.prototype && UNDEFINED.test(error.message); }

  function extend(name, matches) {
    var singleton = Opal.get_singleton_class(Opal[name]), whole = Opal[name]['$==='];
    Opal.def(singleton, '$===', function(error) {
      return whole.call(this, error) || (this === Opal[name] && error instanceof Error && matches(error));
    });
  }

  extend('StandardError', is_native);
  extend('NameError', calls_nothing);
  extend('NoMethodError', calls_nothing);
})(Opal);
