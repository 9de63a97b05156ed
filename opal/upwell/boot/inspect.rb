# backtick_javascript: true
# frozen_string_literal: true

# What `inspect` finds in most collections, and in each env: Opal gives every String that it looks at a number of its own, and keeps both for
# ever; it escapes what has nothing to escape, and numbers a Hash to know it again within itself.
%x{
  const PLAIN = /^[ !$-\[\]-~]*$/; // neither a quote, a backslash nor a #
  const inspect = Opal.Opal.$inspect, inspectString = String.prototype.$inspect, hashes = [];

  Opal.defs(Opal.Opal, "$inspect", value => value && value.$$is_string ? value.$inspect() : inspect.call(Opal.Opal, value));
  Opal.def(Opal.String, "$inspect", function() {
    const text = this.valueOf();

    return PLAIN.test(text) ? '"' + text + '"' : inspectString.call(this);
  });
  Opal.def(Opal.Hash, "$inspect", function() {
    const pairs = [];

    if (hashes.includes(this)) return "{...}";
    hashes.push(this);
    try {
      this.forEach((value, key) => pairs.push(Opal.Opal.$inspect(key) + "=>" + Opal.Opal.$inspect(value)));
    } finally {
      hashes.pop();
    }
    return "{" + pairs.join(", ") + "}";
  });
  Opal.alias(Opal.Hash, "to_s", "inspect");
}

class IO
  STANDARD = %w[<STDIN> <STDOUT> <STDERR>].freeze

  # @return [String]
  def inspect
    "#<IO:#{STANDARD[fileno] || "fd #{fileno}"}>"
  end
end
