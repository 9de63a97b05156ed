// A block that runs with another self and has several parameters takes a single Array argument apart. After an exception its self is restored.
(function(Opal) {
  function values(block, args) {
    return args.length === 1 && block.length > 1 && !block.$$is_lambda && args[0] != null && args[0].$$is_array ? args[0] : args;
  }

  for (let [prototype, name] of [[Opal.BasicObject.prototype, '$instance_exec'], [Opal.BasicObject.prototype, '$instance_eval'],
                                 [Opal.Module.prototype, '$class_exec'], [Opal.Module.prototype, '$module_exec'],
                                 [Opal.Module.prototype, '$class_eval'], [Opal.Module.prototype, '$module_eval']]) {
    let whole = prototype[name], execs = name.endsWith('exec');
    let wrapper = function(...args) {
      var block = wrapper.$$p;
      wrapper.$$p = null;
      if (block == null || block === Opal.nil) return whole.apply(this, args);

      var own = block.$$s;
      whole.$$p = block;
      try {
        return whole.apply(this, execs ? values(block, args) : args);
      } finally {
        block.$$s = own;
      }
    };
    wrapper.$$arity = whole.$$arity;
    Opal.prop(prototype, name, wrapper);
  }
})(Opal);
