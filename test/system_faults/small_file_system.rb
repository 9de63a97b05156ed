# frozen_string_literal: true

# A small file system of its own at a folder: one that can be filled.
class SmallFileSystem
  SIZE = "64k"

  # @return [Boolean] whether this user may mount
  def self.mountable?
    return @mountable unless @mountable.nil?

    @mountable = Dir.mktmpdir do |folder|
      system("mount", "-t", "tmpfs", "tmpfs", folder, err: File::NULL) && system("umount", folder)
    end || false
  end

  # @param folder [String]
  def initialize(folder)
    @folder = folder
    system("mount", "-t", "tmpfs", "-o", "size=#{SIZE}", "tmpfs", folder, exception: true)
  end

  def fill
    File.open(filler, "w") { |file| loop { file.syswrite("x" * 4096) } }
  rescue Errno::ENOSPC
    nil
  end

  def make_room
    File.unlink(filler)
  end

  # Even while a process still has a file of it.
  def unmount
    system("umount", "-l", @folder, exception: true)
  end

  private

  def filler
    File.join(@folder, "filler")
  end
end
