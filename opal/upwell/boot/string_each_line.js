// Splits a string into lines, each with its line end.
(function(Opal) {
  var plain = String.prototype.$each_line;

  var wrapper = function(separator, options) {
    var block = wrapper.$$p, text = this.valueOf();
    wrapper.$$p = null;
    if (separator !== undefined && separator.$$is_hash) options = separator, separator = undefined;
    if (block == null || block === Opal.nil || (separator !== undefined && String(separator) !== '\n')) {
      plain.$$p = block;
      return plain.apply(this, arguments);
    }
    var chomp = options !== undefined && options.$$is_hash && Opal.truthy(options.get('chomp') ?? false);
    for (var line of text.match(/[^\n]*\n|[^\n]+$/g) || []) Opal.yield1(block, chomp ? line.replace(/\r?\n$/, '') : line);
    return this;
  };
  Opal.prop(String.prototype, '$each_line', wrapper);
})(Opal);
