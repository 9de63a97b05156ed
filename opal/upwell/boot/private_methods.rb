# backtick_javascript: true
# frozen_string_literal: true

# Records which methods are private. public_send and respond_to? observe this record; a call with a receiver is not refused.
PRIVATE_METHODS = {
  Kernel => %w[Array Complex Float Hash Integer Rational String __callee__ __dir__ __method__ ` abort at_exit autoload autoload? binding
               block_given? caller caller_locations catch eval exec exit exit! fail fork format gem gets global_variables iterator? lambda
               load local_variables loop open p pp print printf proc putc puts raise rand readline readlines require require_relative
               select set_trace_func sleep spawn sprintf srand syscall system test throw trace_var trap untrace_var warn
               method_of_class raise_made],
  BasicObject => %w[method_missing singleton_method_added singleton_method_removed singleton_method_undefined evaluate_for_instance],
  Module => %w[append_features extend_object extended included method_added method_removed method_undefined module_function
               prepend_features prepended private protected public refine remove_const ruby2_keywords using
               alias_method_of_eval all_instance_methods const_defined_here? define_method_of_block defined_method? evaluate_for_module
               functions_of_module],
  Class => %w[inherited]
}.freeze

%x{
  var ALWAYS = ['initialize', 'initialize_copy', 'initialize_dup', 'initialize_clone', 'respond_to_missing?'];
  var declared = new Set(ALWAYS); // in any class: other names need no search
  var OWN = new Set(#{PRIVATE_METHODS.keys});

  Opal.declare_visibility = function(module, names, visibility) {
    names = names.$flatten().filter((name) => name.$$is_string);
    if (module.$$eval) module = Opal.get_singleton_class(module); // methods within instance_eval belong to the singleton class
    if (names.length === 0 && Opal.evaluated_visibilities) Opal.evaluated_visibilities.set(module, visibility);
    for (var name of names) {
      name = name.valueOf();
      if (visibility !== 'public') declared.add(name);
      (module.$$visibilities ||= new Map()).set(name, visibility);
    }
    return names.length === 1 ? names[0] : names;
  };

  // A redefined method is public until it is declared otherwise. Ruby's own classes are an exception, because boot files replace their methods.
  var defn = Opal.defn, def = Opal.def, alias = Opal.alias;

  Opal.defn = function(module, jsid, body) {
    if (module.$$visibilities && !OWN.has(module)) module.$$visibilities.delete(jsid.slice(1));
    var name = defn(module, jsid, body), evaluated = Opal.evaluated_visibilities && Opal.evaluated_visibilities.get(module);
    if (evaluated && evaluated !== 'public') Opal.declare_visibility(module, [name], evaluated);
    return name;
  };

  // In evaluated text, which Rewriters::Privacy does not see, `private` without names applies up to the text's end.
  Opal.evaluate = function(evaluated) {
    var outer = Opal.evaluated_visibilities;
    Opal.evaluated_visibilities = new Map();
    try { return evaluated(); } finally { Opal.evaluated_visibilities = outer; }
  };

  // A method at top level is private.
  Opal.def = function(object, jsid, body, options) {
    var name = def(object, jsid, body, options);
    if (object === Opal.top) Opal.declare_visibility(Opal.Object, [name], 'private');
    return name;
  };

  Opal.alias = function(object, name, old) {
    if (object.$$eval) return alias(object, name, old);
    var module = object.$$prototype === undefined ? Opal.Object : object, visibility = Opal.visibility_in(module, old);
    alias(object, name, old);
    if (visibility !== 'public') Opal.declare_visibility(module, [name], visibility);
    return object;
  };

  Opal.private_names = (module) => {
    return Array.from(module.$$visibilities || []).filter((pair) => pair[1] === 'private').map((pair) => Opal.symbol(pair[0]));
  };

  function defines(module, name) {
    var methods = module.$$prototype, method;

    if (Object.hasOwn(methods, '$$dummy')) methods = methods.$$define_methods_on;
    method = Object.hasOwn(methods, '$' + name) && methods['$' + name];
    return method && !method.$$stub;
  }

  function owns(module, name) {
    return defines(module, name) || (module.$$visibilities !== undefined && module.$$visibilities.has(name));
  }

  Opal.visibility = function(object, name) {
    if (object === Opal.Kernel) return 'public';
    return Opal.visibility_in(object.$$is_class ? Opal.get_singleton_class(object) : object.$$meta || object.$$class, name);
  };

  // Finds the visibility in a module's instances.
  Opal.visibility_in = function(owner, name) {
    name = name.valueOf();
    if (!declared.has(name)) return 'public';
    if (ALWAYS.includes(name)) return 'private';
    for (var module of Opal.ancestors(owner)) {
      var visibility = module.$$visibilities && module.$$visibilities.get(name);
      if (visibility) return visibility;
      if (defines(module, name)) break;
    }
    return 'public';
  };
}

PRIVATE_METHODS.each { |owner, names| `Opal.declare_visibility(owner, names, 'private')` }

class Module
  def private(*names)
    `Opal.declare_visibility(self, names, 'private')`
  end

  def protected(*names)
    `Opal.declare_visibility(self, names, 'protected')`
  end

  def public(*names)
    `Opal.declare_visibility(self, names, 'public')`
  end

  alias functions_of_module module_function

  def module_function(*names)
    private(*names)
    functions_of_module(*names)
  end

  def private_class_method(*names)
    singleton_class.private(*names)
    nil
  end

  def public_class_method(*names)
    singleton_class.public(*names)
    nil
  end

  def private_instance_methods(inherited = true)
    (inherited ? ancestors : [self]).flat_map { |owner| `Opal.private_names(owner)` }.uniq
  end

  alias all_instance_methods instance_methods

  def instance_methods(inherited = true)
    all_instance_methods(inherited).reject { |name| `Opal.visibility_in(self, name)` == "private" }
  end

  def public_instance_methods(inherited = true)
    all_instance_methods(inherited).select { |name| `Opal.visibility_in(self, name)` == "public" }
  end

  alias defined_method? method_defined?

  def method_defined?(name, inherited = true)
    defined_method?(name) && `Opal.visibility_in(self, name)` != "private" && (inherited || `owns(self, name.valueOf())`)
  end

  def public_method_defined?(name, inherited = true)
    method_defined?(name, inherited) && `Opal.visibility_in(self, name)` == "public"
  end

  def protected_method_defined?(name, inherited = true)
    method_defined?(name, inherited) && `Opal.visibility_in(self, name)` == "protected"
  end

  def private_method_defined?(name, inherited = true)
    defined_method?(name) && `Opal.visibility_in(self, name)` == "private" && (inherited || `owns(self, name.valueOf())`)
  end
end

%i[private public].each do |name|
  define_singleton_method(name) { |*names| Object.__send__(name, *names) }
end

module Kernel
  def public_send(name, *arguments, &block)
    visibility = `name.$$is_string ? Opal.visibility(self, name) : 'public'`
    return __send__(name, *arguments, &block) if visibility == "public"
    return method_missing(name, *arguments, &block) unless `self.$method_missing.$$pristine`

    raise NoMethodError.new("#{visibility} method `#{name}' called for #{::Opal.inspect(self)}", name, arguments)
  end

  def public_method(name)
    visibility = `Opal.visibility(self, name)`
    return method(name) if visibility == "public"

    raise NameError.new("method `#{name}' for class `#{self.class}' is #{visibility}", name)
  end

  def respond_to?(name, include_all = false)
    %x{
      var method = self[Opal.jsid(name)];
      if (typeof method === 'function' && !method.$$stub) {
        if (Opal.truthy(include_all) || Opal.visibility(self, name) === 'public') return true;
      }
      return self['$respond_to_missing?'].$$pristine ? false : #{respond_to_missing?(name, include_all)};
    }
  end

  Opal.pristine(self, :respond_to?)
end
