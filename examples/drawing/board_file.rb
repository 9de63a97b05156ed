# frozen_string_literal: true

require_relative "../private_folder"
require_relative "stroke_message_format"

# The picture, in a file that all workers share: how often the board was wiped (4 bytes), and the strokes since then. What is
# told of a change has the same form, so whoever hears of a wipe late does not take newer strokes away with it.
class BoardFile
  BYTES_MAX = 512 * 1024 # beyond that the older half of the strokes is forgotten
  WIPES_BYTES = 4

  def initialize(folder)
    @path = File.join(PrivateFolder.make(folder), "picture")
    @fibers = Mutex.new # flock would have the whole thread wait for one of its own fibers
    alone { |file| begin_anew(file, 0) unless file.size.positive? }
  end

  # @yieldparam picture [String] that nobody changes meanwhile
  def look
    alone { |file| yield file.read }
  end

  # @yieldparam change [String] what the others are to be told
  def paint(stroke)
    alone do |file|
      wipes = file.read(WIPES_BYTES)
      next yield(begin_anew(file, wipes.unpack1("N") + 1)) if stroke == StrokeMessageFormat::WIPE

      file.seek(0, :END)
      file.write(stroke)
      forget_half(file) if file.size > BYTES_MAX
      yield wipes + stroke
    end
  end

  private

  def alone
    @fibers.synchronize do
      File.open(@path, File::CREAT | File::RDWR, binmode: true) do |file|
        file.flock(File::LOCK_EX)
        yield file
      end
    end
  end

  def begin_anew(file, wipes)
    [wipes].pack("N").tap { |head| replace(file, head) }
  end

  def forget_half(file)
    file.rewind
    picture = file.read
    from = WIPES_BYTES
    from += picture.unpack1("n", offset: from) while from < BYTES_MAX / 2
    replace(file, picture.byteslice(0, WIPES_BYTES) + picture.byteslice(from..))
  end

  def replace(file, content)
    file.truncate(0)
    file.rewind
    file.write(content)
  end
end
