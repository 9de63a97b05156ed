# frozen_string_literal: true

require "fileutils"
require_relative "stroke"

# The picture: all strokes, one after another, in a file that all workers share.
class Board
  BYTES_MAX = 512 * 1024 # beyond that the older half of the strokes is forgotten

  def initialize(folder)
    FileUtils.mkdir_p(folder, mode: 0o700)
    @path = File.join(folder, "picture")
    @fibers = Mutex.new # flock would have the whole thread wait for one of its own fibers
  end

  # Nobody paints while the block looks at the picture.
  #
  # @yieldparam [String]
  def look
    alone { |file| yield file.read }
  end

  # The block tells the others: all hear of strokes in the order in which they are kept.
  def paint(stroke)
    alone do |file|
      stroke == Stroke::WIPE ? file.truncate(0) : file.seek(0, :END) && file.write(stroke)
      forget_half(file) if file.size > BYTES_MAX
      yield
    end
  end

  private

  def alone
    @fibers.synchronize do
      File.open(@path, File::CREAT | File::RDWR | File::BINARY) do |file|
        file.flock(File::LOCK_EX)
        yield file
      end
    end
  end

  def forget_half(file)
    file.rewind
    picture = file.read
    from = 0
    from += picture.unpack1("n", offset: from) while from < BYTES_MAX / 2
    file.rewind
    file.write(picture.byteslice(from..))
    file.truncate(file.pos)
  end
end
