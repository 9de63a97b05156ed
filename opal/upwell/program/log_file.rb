# backtick_javascript: true
# frozen_string_literal: true

require "upwell/log"

module Upwell
  class Program < Command
    # Sends standard output and error to a file, and opens it again after it was moved away (logrotate).
    class LogFile
      # @param path [String, nil] nil leaves standard output and error as they are
      def initialize(path)
        @path = path && File.expand_path(path)
        @numbers = `[1, 2]` # that standard output and error are written to
      end

      # @raise [ConfigurationError] when the file cannot be written
      def open
        reason = reopen
        raise ConfigurationError, "log file #{@path} cannot be written: #{reason}; choose another with --log-file" if reason

        write_by_number if @path
      end

      # A file that cannot be written now leaves the process with the one it has.
      def open_again
        reason = reopen
        Log.tell("log file #{@path} cannot be opened again: #{reason}") if reason
      end

      private

      # A stream of Bun's keeps the file that it has begun with. A full disk must not end the server.
      def write_by_number
        %x{
          const fs = require("fs"), numbers = #{@numbers};

          [process.stdout, process.stderr].forEach((stream, index) => {
            stream.write = (data, ...rest) => {
              try { fs.writeSync(numbers[index], data); } catch (error) {}
              const told = rest.find(one => typeof one === "function");
              if (told) process.nextTick(told);
              return true;
            };
          });
        }
      end

      # Neither runtime has dup2: a descriptor that was closed is the lowest free one, and the next file gets its number, unless another thread
      # of the runtime's opens one at that moment. Then it has another number, and it is that which is written to.
      #
      # @return [String, nil] why not
      def reopen
        return unless @path

        %x{
          const fs = require("fs"), path = #{@path}, numbers = #{@numbers};

          try {
            for (let i = 0; i < numbers.length; i++) {
              let unused = fs.openSync(path, "a");

              fs.closeSync(numbers[i]);
              try { numbers[i] = fs.openSync(path, "a"); } catch (error) { [numbers[i], unused] = [unused, null]; }
              if (unused !== null) fs.closeSync(unused);
            }
            return nil;
          } catch (error) {
            return error.message.replace(/, open .*/, "");
          }
        }
      end
    end
  end
end
