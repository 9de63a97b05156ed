# frozen_string_literal: true

# A lock file in a folder. It excludes other fibers and threads of this process, and other processes with a lock in the same folder.
class FileLock
  # @param folder [String]
  def initialize(folder)
    @path = File.join(folder, "lock")
    @here = Mutex.new # flock would have the whole thread wait for one of its own fibers
  end

  # Runs the block with the lock.
  def take
    @here.synchronize do
      File.open(@path, File::CREAT | File::RDWR) do |lock|
        lock.flock(File::LOCK_EX)
        yield
      end
    end
  end
end
