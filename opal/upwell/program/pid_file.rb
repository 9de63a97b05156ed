# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  class Program < Command
    # Holds the process number while the program runs. It comes into being with its content, by a link, so that of those who start at once one
    # alone has it. Who replaces that of a dead process holds another such file meanwhile, named after the dead one. Where there are no links, as
    # on FAT, or only the file itself may be written, it is: of those who start at once there the last one has it.
    class PidFile
      NO_LINKS = %w[EACCES ENOSYS ENOTSUP EOPNOTSUPP EPERM].freeze

      `var fs = require("fs"), crypto = require("crypto")`

      # @param path [String, nil] nil: no file
      def initialize(path)
        @path = path && File.expand_path(path)
      end

      # Writes it, and removes it when the process ends, unless another has written it since.
      #
      # @raise [ConfigurationError] when a live process holds it, or it cannot be written
      def write
        return unless @path

        claim
        `process.on("exit", () => #{remove})`
        nil
      rescue ConfigurationError => e
        raise e # Opal knows no other: the one below has been let go
      rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own
        reason = `e.message.replace(/, (open|write|link|rename) .*/, "")`
        raise ConfigurationError, "pid file #{@path} cannot be written: #{reason}; choose another with --pid-file"
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
        `fs.writeFileSync(path, process.pid + "\n")`
      end

      def refuse_live(pid)
        raise ConfigurationError, "pid file #{@path} belongs to the running process #{pid}; stop it first" if alive?(pid)
      end

      # @param own [String] a file with this process's number
      def take(path, own)
        return if link(own, path)

        pid = number(path)
        refuse_live(pid)
        replaced = !pid.nil? && replace(path, pid, own)
        take(path, own) unless replaced
      end

      # @return [Boolean] not when somebody else was quicker
      def replace(path, dead, own)
        claim = "#{path}.#{dead}"
        take(claim, own)
        begin
          replaced = number(path) == dead && `fs.renameSync(claim, path) === undefined`
        ensure
          `fs.unlinkSync(claim)` unless replaced
        end
      end

      # @return [Boolean] not when there is such a file
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

      # One that was prepared in a folder of somebody else's is emptied.
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

      # @return [Integer, nil] 0 where there is none; nil without a file
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

      # Also another user's.
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
