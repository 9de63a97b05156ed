# backtick_javascript: true
# frozen_string_literal: true

require "upwell/js_error"

module Upwell
  class Program < Command
    # The file with the process id of a running program. It is created with its content, by link(2), so only one of several concurrent starts
    # gets it. A process that replaces a dead process's file first takes a second file, named after the dead process. Where links are impossible
    # (on FAT, or when only the file itself is writable), the file is written directly, and the last of concurrent starts wins.
    class PidFile
      NO_LINKS = %w[EACCES ENOSYS ENOTSUP EOPNOTSUPP EPERM].freeze

      %x{
        const fs = require("fs"), crypto = require("crypto"), { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = fs.constants;
      }

      # @param path [String, nil] nil: no file
      def initialize(path)
        @path = path && File.expand_path(path)
      end

      # Writes the file, and removes it at exit, unless another process has replaced it.
      #
      # @raise [ConfigurationError] when a live process holds the file, or when it cannot be written
      def write
        return unless @path

        claim
        `process.on("exit", () => #{remove})`
        nil
      rescue ConfigurationError => e
        raise e # Opal would pass this error to the clause below
      rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own
        raise ConfigurationError, "pid file #{@path} cannot be written: #{JsError.reason(e)}; choose another with --pid-file"
      end

      private

      def claim
        own = "#{@path}.#{`crypto.randomUUID()`}"
        `fs.writeFileSync(own, process.pid + "\n", { flag: "wx" })`
        take(@path, own)
      rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own
        NO_LINKS.include?(`e.code || nil`) ? write_in_place : raise(e)
      ensure
        `if (own !== nil) fs.rmSync(own, { force: true })`
      end

      def write_in_place
        path = @path
        refuse_live(number(path))
        `fs.writeFileSync(path, process.pid + "\n", { flag: O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW })`
      end

      def refuse_live(pid)
        raise ConfigurationError, "pid file #{@path} belongs to the running process #{pid}; stop it, or name another file" if alive?(pid)
      end

      # Creates a file, or replaces a dead process's file.
      #
      # @param own [String] a file with this process's id
      def take(path, own)
        return if link(own, path)

        pid = number(path)
        refuse_live(pid)
        replaced = !pid.nil? && replace(path, pid, own)
        take(path, own) unless replaced
      end

      # @return [Boolean] false when another process was first
      def replace(path, dead, own)
        claim = "#{path}.#{dead}"
        take(claim, own)
        begin
          replaced = number(path) == dead && `fs.renameSync(claim, path) === undefined`
        ensure
          `fs.unlinkSync(claim)` unless replaced
        end
      end

      # @return [Boolean] false when the file exists
      def link(own, path)
        %x{
          try {
            fs.linkSync(own, path);
            return true;
          } catch (error) {
            if (error.code === "EEXIST") return false;
            throw error;
          }
        }
      end

      # Removes the file. In a directory of another user the file is only emptied.
      def remove
        path = @path
        return unless number(path) == `process.pid`

        %x{
          try {
            fs.unlinkSync(path);
          } catch (error) {
            fs.truncateSync(path);
          }
        }
      end

      # @return [Integer, nil] the process id; 0 for invalid content; nil without a file
      def number(path)
        %x{
          try {
            return parseInt(fs.readFileSync(path, "latin1")) || 0;
          } catch (error) {
            if (error.code === "ENOENT") return nil;
            throw error;
          }
        }
      end

      # A process of another user counts, too.
      def alive?(pid)
        return false if pid.nil? || pid.zero? || `pid === process.pid`

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
