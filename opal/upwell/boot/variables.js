// Instance variables are properties of JavaScript's objects. What means something there gets another name, as Rewriters::ReservedVariables gives
// it; and a class, which is a function, has its name and its length to give away.
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
