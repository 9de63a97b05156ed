# frozen_string_literal: true

require "fileutils"

# A folder of this user's alone. Under /tmp another user may have made it before, to read along, or to have links followed.
module PrivateFolder
  MODE = 0o700

  # @param folder [String] is made where there is none
  # @return [String] the folder
  # @raise [RuntimeError] when others have a part in it
  def self.make(folder)
    FileUtils.mkdir_p(folder, mode: MODE)
    status = File.lstat(folder)
    return folder if status.directory? && status.owned? && status.mode.nobits?(0o077)

    raise "#{folder} must be a folder, this user's own, with mode 700: remove it, or set TMPDIR"
  end
end
