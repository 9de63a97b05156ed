# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  class Program < Command
    # The program's file, where it lies in the user's cache, from which goes what nobody has used for long: see lib/upwell/opal/cache.rb.
    module CachedFile
      HOUR_MS = 3_600_000

      # Workers are started from it as long as this process runs.
      def self.hold
        %x{
          const fs = require("fs"), evaluated = globalThis.Opal_evaluated;
          const touch = path => fs.utimes(path, new Date(), new Date(), () => {});

          if (evaluated) setInterval(() => [process.argv[1], evaluated].forEach(touch), #{HOUR_MS}).unref();
        }
      end
    end
  end
end
