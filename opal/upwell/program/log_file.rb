# backtick_javascript: true
# frozen_string_literal: true

require "upwell/js_error"
require "upwell/log"

module Upwell
  class Program < Command
    # Redirects standard output and error to a file, and reopens it after a rotation (logrotate).
    class LogFile
      # @param path [String, nil] nil leaves standard output and error as they are
      def initialize(path)
        @path = path && File.expand_path(path)
        @numbers = `[1, 2]` # the descriptors of standard output and error
      end

      # Opens the file.
      #
      # @raise [ConfigurationError] when the file cannot be written
      def open
        reason = reopen
        raise ConfigurationError, "log file #{@path} cannot be written: #{reason}; choose another with --log-file" if reason

        write_by_number if @path
      end

      # Opens the file again. If it cannot be written, the process keeps the old one.
      def open_again
        reason = reopen
        Log.tell("log file #{@path} cannot be opened again: #{reason}; the log continues in the old file until SIGHUP") if reason
      end

      private

      # Bun's stream always writes to its first file, so writes go to the descriptor. A full disk must not stop the server.
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

      # Replaces the descriptors. The runtimes have no dup2(2). A closed descriptor is the lowest free one, so the next opened file gets it,
      # unless another thread of the runtime opens a file at that moment. Then writes go to the new descriptor.
      #
      # @return [String, nil] the reason of a failure
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
            return #{JsError.reason(`error`)};
          }
        }
      end
    end
  end
end
