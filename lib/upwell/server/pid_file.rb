# frozen_string_literal: true

module Upwell
  class Server
    # Holds the process number while the server runs, and a lock: the number alone may be another program's by then.
    class PidFile
      PATIENCE = 0.5 # seconds in which a server that has the lock writes its number
      PAUSE = 0.01

      # @param path [String, nil] nil: no file
      def initialize(path)
        @path = path && File.expand_path(path)
      end

      # @raise [ConfigurationError] when a live process holds it, or it cannot be written
      def write
        return unless @path

        lock
        lock until File.identical?(@file, @path) # a server that ended may have removed the file meanwhile
        write_number
        @owner = Process.pid
      rescue SystemCallError => e
        raise ConfigurationError, "pid file #{@path} cannot be written: #{Reason.of(e)}; choose another with --pid-file"
      end

      # Removes the file, unless another process has written it since.
      def remove
        return unless @path && @owner == Process.pid

        File.unlink(@path) if ours?
      rescue Errno::ENOENT
        nil
      rescue SystemCallError => e
        Log.tell("pid file #{@path} cannot be removed: #{Reason.of(e)}")
      end

      private

      def lock
        @file&.close
        @file = File.open(@path, File::RDWR | File::CREAT, 0o644)
        await_lock(Clock.now + PATIENCE)
      end

      # Who has it and tells no live number in time was left behind by a dead server: this one goes on without the lock.
      def await_lock(deadline)
        until @file.flock(File::LOCK_EX | File::LOCK_NB)
          refuse_live
          break if Clock.now > deadline

          sleep PAUSE
        end
      end

      # Over a dead server's number, which stays where this one cannot be written.
      def write_number
        @file.rewind
        @file.truncate(@file.syswrite("#{Process.pid}\n"))
      rescue SystemCallError
        File.unlink(@path) if @file.stat.file? && @file.stat.zero?
        raise
      end

      # By what is open already: there may be no more descriptors.
      def ours?
        @file.rewind
        @file.read.to_i == Process.pid && File.identical?(@file, @path)
      end

      def refuse_live
        @file.rewind
        pid = @file.read.to_i
        return unless pid.positive? && pid != Process.pid

        raise ConfigurationError, "pid file #{@path} belongs to the running process #{pid}; stop it first" if alive?(pid)
      end

      def alive?(pid)
        Process.kill(0, pid)
        true
      rescue Errno::ESRCH
        false
      rescue Errno::EPERM # another user's
        true
      end
    end
  end
end
