# frozen_string_literal: true

module Upwell
  class Server
    module System
      # The file with the process id of a running server. The file is also locked: the id alone may belong to another program later.
      class PidFile
        PATIENCE = 0.5 # seconds in which a server with the lock writes its process id
        PAUSE = 0.01
        # The file must not be a symbolic link: in a directory of another user the link may point to any file of this user.
        FLAGS = File::RDWR | File::CREAT | File::NOFOLLOW

        # @param path [String, nil] nil: no file
        # @param owner [Array(Integer, Integer), nil] user and group of the file
        def initialize(path, owner = nil)
          @owner_ids = owner
          @path = path && File.expand_path(path)
        end

        # Writes the process id.
        #
        # @raise [ConfigurationError] when a live process holds the file, or when it cannot be written
        def write
          return unless @path

          lock
          lock until File.identical?(@file, @path) # another server may have removed the file while exiting
          @file.chown(*@owner_ids) if @owner_ids
          write_number
          @owner = Process.pid
        rescue SystemCallError => e
          raise ConfigurationError, "pid file #{@path} cannot be written: #{ErrnoText.of(e)}; choose another with --pid-file"
        end

        # Leaves the file to another server.
        def release
          @owner = nil
          @file&.flock(File::LOCK_UN) # worker processes have the descriptor, too
          @file&.close
        rescue SystemCallError, IOError
          nil
        end

        # Removes the file, unless another process has replaced it.
        def remove
          return unless @path && @owner == Process.pid

          File.unlink(@path) if ours?
        rescue Errno::ENOENT
          nil
        rescue Errno::EACCES, Errno::EPERM
          @file.truncate(0) # the directory belongs to another user
        rescue SystemCallError => e
          Log.tell("pid file #{@path} cannot be removed: #{ErrnoText.of(e)}; remove the file yourself")
        end

        private

        def lock
          @file&.close
          @file = File.open(@path, FLAGS, 0o644)
          await_lock(Clock.now + PATIENCE)
        end

        # If the holder of the lock writes no live process id in time, a dead server left the lock. This server continues without the lock.
        def await_lock(deadline)
          until @file.flock(File::LOCK_EX | File::LOCK_NB)
            refuse_live
            break if Clock.now > deadline

            sleep PAUSE
          end
        end

        # The new id overwrites a dead server's id. If the write fails, the old id remains.
        def write_number
          @file.rewind
          @file.truncate(@file.syswrite("#{Process.pid}\n"))
        rescue SystemCallError
          File.unlink(@path) if @file.stat.file? && @file.stat.zero?
          raise
        end

        # The check uses the open descriptor, because no other may be free.
        def ours?
          @file.rewind
          @file.read.to_i == Process.pid && File.identical?(@file, @path)
        end

        def refuse_live
          @file.rewind
          pid = @file.read.to_i
          return unless pid.positive? && pid != Process.pid

          raise ConfigurationError, "pid file #{@path} belongs to the running process #{pid}; stop it, or name another file" if alive?(pid)
        end

        def alive?(pid)
          Process.kill(0, pid)
          true
        rescue Errno::ESRCH
          false
        rescue Errno::EPERM # the process belongs to another user
          true
        end
      end
    end
  end
end
