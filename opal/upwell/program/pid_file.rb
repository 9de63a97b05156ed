# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  class Program < Command
    # Holds the process number while the program runs.
    class PidFile
      `var fs = require("fs")`

      # @param path [String, nil] nil: no file
      def initialize(path)
        @path = path && File.expand_path(path)
      end

      # Writes it, and removes it when the process ends, unless another has written it since.
      #
      # @raise [ConfigurationError] when a live process holds it, or it cannot be written
      def write
        return unless @path

        refuse_live
        reason = attempt_to_write
        raise ConfigurationError, "pid file #{@path} cannot be written: #{reason}; choose another with --pid-file" if reason

        `process.on("exit", () => #{remove})`
      end

      private

      def attempt_to_write
        path = @path
        %x{
          try {
            fs.writeFileSync(path, process.pid + "\n");
            return nil;
          } catch (error) {
            return error.message.replace(/, open .*/, "");
          }
        }
      end

      def remove
        path = @path
        `fs.unlinkSync(path)` if number == `process.pid`
      end

      def refuse_live
        pid = number
        raise ConfigurationError, "pid file #{@path} belongs to the running process #{pid}; stop it first" if alive?(pid)
      end

      def number
        path = @path
        %x{
          try {
            return parseInt(fs.readFileSync(path, "latin1")) || 0;
          } catch (error) {
            return 0;
          }
        }
      end

      # Also another user's.
      def alive?(pid)
        return false if pid.zero? || `pid === process.pid`

        %x{
          try {
            process.kill(pid, 0);
            return true;
          } catch (error) {
            return error.code === "EPERM";
          }
        }
      end
    end
  end
end
