# frozen_string_literal: true

require "fileutils"
require "tmpdir"

# A file that requests wait for: those go on as long as the test needs, however slow the machine is.
class RequestReleaseFile
  # @yieldparam release [RequestReleaseFile] in a directory that is removed afterwards
  def self.open
    Dir.mktmpdir { |directory| yield new(File.join(directory, "released")) }
  end

  attr_reader :path

  def initialize(path)
    @path = path
  end

  # Lets them go on.
  def give
    FileUtils.touch(path)
  end
end
