# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # Texts of Ruby that are evaluated where the program runs (class_eval "..."). The compiler takes longer to load than most programs take to
  # start: what it makes of a text is kept in a file beside the program, where the next start finds it. Only a program in the user's own
  # cache has such a file, as it is run: see lib/upwell/opal/program.rb.
  module Evaluation
    COMPILER = "upwell/evaluation" # not written where it is required: it is there if some file that was compiled evaluates a text

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
        var own = path + '.' + require('crypto').randomUUID(); // containers that share the folder may have the same process number
        try {
          fs.writeFileSync(own, JSON.stringify(Object.fromEntries(kept)), { mode: 0o600, flag: 'wx' });
          fs.renameSync(own, path);
        } catch (error) { remove(own); } // a full disk costs the next start its time
      }

      function remove(file) {
        try { fs.unlinkSync(file); } catch (error) { /* it is not there */ }
      }

      function keep(key, compiled) {
        if ((characters += key.length + compiled.length) > CHARACTERS_MAX) return;
        kept.set(key, compiled);
        more = true;
      }
    }

    # The application is loaded: what has been evaluated is written. Whatever follows comes with requests, which must not wait for that.
    #
    # @return [void]
    def self.loaded
      `if (path && more) write()`
      `path = null`
    end

    # @param text [String]
    # @param file [String] its name in backtraces
    # @return [Proc] whose self is what the text is evaluated for
    def self.block(text = nil, file = "(eval)", _line = 1)
      raise ArgumentError, "wrong number of arguments (given 0, expected 1..3)" unless text

      %x{
        var key = JSON.stringify([file.valueOf(), text.valueOf()]), compiled = (kept ||= read()).get(key);
        if (compiled === undefined) keep(key, compiled = #{compile(text, file)});
        return function() { return Opal.evaluate(() => new Function('Opal,self', 'return ' + compiled)(Opal, this)); };
      }
    end

    def self.compile(text, file)
      load_compiler
      options = __OPAL_COMPILER_CONFIG__.merge(file: file, eval: true)
      `Opal.compile(text, options)`
    end
    private_class_method :compile

    def self.load_compiler
      require COMPILER
    rescue LoadError
      raise LoadError, "a text is evaluated, for which the program has to have a compiler: " \
                       "have config.ru require \"#{COMPILER}\" if RUBY_ENGINE == \"opal\""
    end
    private_class_method :load_compiler
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
