# frozen_string_literal: true

require_relative "../private_folder"
require_relative "../file_lock"

# A log in a few files of bounded size, which all workers write to. A place in it is how many bytes were ever written before
# it; a file is named after the place that it begins at.
class RotatedLog
  FILE_BYTES_MAX = 1024 * 1024
  FILES_MAX = 4
  READ_BYTES = 16 * 1024

  def initialize(folder)
    @folder = PrivateFolder.make(folder)
    @lock = FileLock.new(@folder)
    @lock.take { append_to(path_at(0), "") if paths.empty? }
  end

  def append(line)
    @lock.take do
      last = paths.last
      last = path_at(end_of(last)) if File.size(last) >= FILE_BYTES_MAX
      append_to(last, "#{line}\n")
      File.delete(*paths[...-FILES_MAX])
    end
  end

  # @param place [Integer]
  # @return [Array<Array(String, Integer)>] some of the lines from there on, each with the place after it
  def lines_after(place)
    path = paths.reverse.find { |candidate| place_of(candidate) <= place } || paths.first
    place = [place, place_of(path)].max # what has been deleted is passed over
    text = File.binread(path, READ_BYTES, place - place_of(path)).to_s
    text.lines.grep(/\n\z/).map { |line| [line.chomp.force_encoding(Encoding::UTF_8).scrub, place += line.bytesize] }
  rescue Errno::ENOENT
    lines_after(place) # deleted just now
  end

  # @return [Integer] where one begins who has read nothing yet
  def recent
    path = paths.last
    from = [File.size(path) - READ_BYTES, 0].max
    from += File.binread(path, READ_BYTES, from).to_s.index("\n").to_i + 1 if from.positive?
    place_of(path) + from
  end

  # @return [Integer]
  def bytes
    end_of(paths.last)
  end

  private

  def append_to(path, text)
    File.write(path, text, mode: "a")
  end

  def paths
    Dir.glob(File.join(@folder, "*.log")).sort_by { |path| place_of(path) }
  end

  def path_at(place)
    File.join(@folder, "#{place}.log")
  end

  def place_of(path)
    File.basename(path, ".log").to_i
  end

  def end_of(path)
    place_of(path) + File.size(path)
  end
end
