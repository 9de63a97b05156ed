// Supports "\k<name>" in the replacement text of sub and gsub.
(function(Opal) {
  for (let name of ['$sub', '$gsub']) {
    let plain = String.prototype[name];
    let wrapper = function(pattern, replacement, ...more) {
      var names = pattern instanceof RegExp && pattern.$$names;
      if (names && replacement !== undefined && replacement.$$is_string && replacement.includes('\\k<')) {
        var numbered = replacement.valueOf().replace(/(\\\\)|\\k<(\w+)>/g, (all, escape, group) => escape || !names.includes(group) ? all : '\\' + (names.lastIndexOf(group) + 1));
        replacement = numbered;
      }
      plain.$$p = wrapper.$$p;
      wrapper.$$p = null;
      return replacement === undefined ? plain.call(this, pattern) : plain.call(this, pattern, replacement, ...more);
    };
    Opal.prop(String.prototype, name, wrapper);
  }
})(Opal);
