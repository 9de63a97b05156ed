# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  module Runtime
    class UWebSockets
      # How many may wait to be accepted, for which uWebSockets.js has no word, nor Node for a descriptor that its loop knows already. Another
      # process may say so as well; it ends before it accepts anybody.
      module Backlog
        PROGRAM = <<~JAVASCRIPT
          const [count, backlog] = process.argv.slice(1).map(Number);

          for (let fd = 3; fd < 3 + count; fd++) require("net").createServer().listen({ fd }, backlog);
          process.kill(process.pid, "SIGKILL");
        JAVASCRIPT

        # @param descriptors [JavaScript Array]
        # @param backlog [Integer] as the kernel is told
        # @yield when it is so, or cannot be
        # @return [void]
        def self.shorten(descriptors, backlog, &done)
          %x{
            const { spawn } = require("child_process"), stdio = ["ignore", "ignore", "ignore", ...descriptors];
            let told = false;

            if (descriptors.length === 0) return #{done.call};
            const child = spawn(process.execPath, ["-e", #{PROGRAM}, descriptors.length, backlog], { stdio, env: {} });

            const end = () => child.kill("SIGKILL"); // it would listen on

            process.once("exit", end);
            ["error", "exit"].forEach(event => child.on(event, () => {
              process.off("exit", end);
              if (told) return;
              told = true;
              #{done.call};
            }));
          }
        end
      end
    end
  end
end
