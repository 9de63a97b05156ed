# frozen_string_literal: true

# Turns at a folder: of the fibers and threads of this process, and of all processes that have one there.
class Turns
  # @param folder [String]
  def initialize(folder)
    @path = File.join(folder, "lock")
    @here = Mutex.new # flock would have the whole thread wait for one of its own fibers
  end

  # The block runs while nobody else's does.
  def take
    @here.synchronize do
      File.open(@path, File::CREAT | File::RDWR) do |lock|
        lock.flock(File::LOCK_EX)
        yield
      end
    end
  end
end
