// Instance variables are properties of JavaScript objects. Names with a meaning there are renamed, as in Rewriters::ReservedVariables. A class,
// which is a function, must also free its properties `name` and `length`.
(function(Opal) {
  var RESERVED = ['prototype', 'arguments', 'caller', 'apply', 'bind', 'call', 'toString', 'stack'], ivar = Opal.ivar;

  Opal.ivar = (name) => RESERVED.includes(name = name.valueOf()) ? name + '$' : ivar(name);

  function give_away(module) {
    for (var name of ['name', 'length']) {
      if (!Object.getOwnPropertyDescriptor(module, name)?.writable) Object.defineProperty(module, name, { value: null, writable: true, configurable: true });
    }
    return module;
  }

  for (let maker of ['klass', 'module', 'allocate_class', 'allocate_module']) {
    let make = Opal[maker];
    Opal[maker] = (...parameters) => give_away(make(...parameters));
  }
})(Opal);
