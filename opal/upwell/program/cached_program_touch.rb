# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  class Program < Command
    # Keeps the program's file in the user's cache, from which unused files are removed: see lib/upwell/opal/cache.rb.
    module CachedProgramTouch
      HOUR_MS = 3_600_000

      # Touches the file as long as this process runs, since workers are started from it.
      def self.hold
        %x{
          const fs = require("fs"), evaluated = globalThis.Opal_evaluated;
          const touch = path => fs.utimes(path, new Date(), new Date(), () => {});

          if (evaluated) setInterval(() => [process.argv[1], evaluated, #{map}].forEach(touch), #{HOUR_MS}).unref();
        }
      end

      # Finds the source map's file, which the last line names.
      def self.map
        %x{
          const path = require("path"), program = process.argv[1];

          try {
            const [, name] = require("fs").readFileSync(program, "utf8").slice(-200).match(/sourceMappingURL=(\S+)\s*$/);

            return path.join(path.dirname(program), name);
          } catch (error) { // there is no map, or the file was removed
            return program;
          }
        }
      end
      private_class_method :map
    end
  end
end
