# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # Evaluates Ruby text at run time (class_eval "..."). The compiler takes longer to load than most programs take to start, so compiled text is
  # stored in a file beside the program for the next start. Only a program in the user's own cache has such a file, because the file is
  # executed: see lib/upwell/opal/program.rb.
  module Evaluation
    # The program evaluates text, but was built without the compiler.
    class NoCompiler < LoadError; end

    COMPILER = "upwell/evaluation" # a literal in `require` would put the compiler into every program

    %x{
      var CHARACTERS_MAX = 1 << 20, path = globalThis.Opal_evaluated, fs = require('fs'), kept, characters = 0, more = false;

      function read() {
        try {
          var text = fs.readFileSync(path, 'utf8'), table = new Map(Object.entries(JSON.parse(text)));
          characters = text.length;
          return table;
        } catch (error) { return new Map(); }
      }

      function write() {
        var own = path + '.' + require('crypto').randomUUID(); // process ids may be equal in containers that share the directory
        try {
          fs.writeFileSync(own, JSON.stringify(Object.fromEntries(kept)), { mode: 0o600, flag: 'wx' });
          fs.renameSync(own, path);
        } catch (error) { remove(own); } // after a failure (a full disk) the next start compiles again
      }

      function remove(file) {
        try { fs.unlinkSync(file); } catch (error) { /* it is not there */ }
      }

      function keep(key, made) {
        if ((characters += key.length + made[0].length + made[1].length) > CHARACTERS_MAX) return;
        kept.set(key, made);
        more = true;
      }

      function compile(text, file, line, variables) {
        file = file === nil ? '(eval)' : file.valueOf();
        var key = JSON.stringify([file, text.valueOf(), ...variables]), made = (kept ||= read()).get(key);
        if (made === undefined) keep(key, made = #{compiler.compile(`text`, `file`, `variables`)});
        return made[0] + '\n//# sourceURL=' + name(key + line, { file: file, line: line, map: { mappings: made[1] } });
      }

      // Frames of evaluated text contain its number. The latest texts are kept.
      var NAMED_MAX = 1000, NAME = 'evaluated-text-', names = new Map(), texts = new Map(), count = 0;

      function name(key, text) {
        var name = names.get(key);
        if (name !== undefined) return name;
        if (names.size >= NAMED_MAX) forget(names.entries().next().value);
        names.set(key, name = NAME + ++count);
        texts.set(name, text);
        return name;
      }

      function forget([key, name]) {
        names.delete(key);
        texts.delete(name);
      }

      Opal.evaluated_text = (name) => texts.get(name.slice(name.lastIndexOf(NAME)));

      // The compiled code calls this function for `eval text`: see Opal's CallNode.
      Opal.compile = (text, options) => compile(#{::Opal.coerce_to!(`text`, String, :to_str)}, options.file, 1, options.scope_variables);
    }

    # Writes the evaluated text once the application is loaded. Later text belongs to requests, which must not wait for a write.
    #
    # @return [void]
    def self.loaded
      `if (path && more) write()`
      `path = null`
    end

    # Compiles a text to a block.
    #
    # @param text [String]
    # @param file [String] its name in backtraces
    # @param line [Integer] the number of its first line
    # @return [Proc] to be run with the receiver of the evaluation as self
    def self.block(text = nil, file = "(eval)", line = 1)
      raise ArgumentError, "wrong number of arguments (given 0, expected 1..3)" unless text

      %x{
        var compiled = '(function(Opal, self) { return ' + compile(text, file, line, []) + '\n})';
        return function() { return Opal.evaluate(() => (0, eval)(compiled)(Opal, this)); };
      }
    end

    # Evaluates a text with a binding.
    #
    # @param text [String]
    # @param binding [Binding]
    # @param file [String] its name in backtraces
    # @param line [Integer] the number of its first line
    # @return [Object] the text's value, computed with the variables of the binding
    def self.within(binding, text, file = "(eval)", line = 1)
      binding.js_eval(`compile(text, file, line, #{binding.local_variables})`)
    end

    def self.compiler
      require COMPILER
      TextCompiler
    rescue LoadError => e
      raise unless e.message.end_with?(COMPILER)

      raise NoCompiler, "the application evaluates text, but the program has no compiler for it: " \
                        "add to config.ru: require \"#{COMPILER}\" if RUBY_ENGINE == \"opal\""
    end
    private_class_method :compiler
  end
end

module Kernel
  # Without a binding the text sees no variables, except for a literal `eval text`.
  def eval(text, binding = nil, *location)
    text = ::Opal.coerce_to!(text, String, :to_str)
    binding ? Upwell::Evaluation.within(binding, text, *location) : instance_exec(&Upwell::Evaluation.block(text, *location))
  end
end

class Module
  alias evaluate_for_module module_eval

  def module_eval(*arguments, &block)
    block ? evaluate_for_module(*arguments, &block) : evaluate_for_module(&Upwell::Evaluation.block(*arguments))
  end

  alias class_eval module_eval
end

class BasicObject
  alias evaluate_for_instance instance_eval

  def instance_eval(*arguments, &block)
    block ? evaluate_for_instance(*arguments, &block) : evaluate_for_instance(&::Upwell::Evaluation.block(*arguments))
  end
end
