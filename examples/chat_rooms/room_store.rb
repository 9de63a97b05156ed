# frozen_string_literal: true

require "json"
require_relative "../private_folder"
require_relative "../file_lock"
require_relative "room"

# The rooms, each in a small file: workers share nothing else.
class RoomStore
  NAME = /\A[\p{Alnum}_-]{1,24}\z/
  ROOMS_MAX = 100

  def initialize(folder)
    @folder = PrivateFolder.make(folder)
    @lock = FileLock.new(@folder)
  end

  # Yields a room that nobody else changes meanwhile, and remembers what has become of it.
  def change(name)
    @lock.take do
      room = read(name)
      yield room
      write(name, room)
      forget_some
    end
  end

  # @return [Array<String>] the last used first
  def names
    paths.reverse.map { |path| name_of(path) }
  end

  private

  def read(name)
    Room.new(*JSON.parse(File.read(path_of(name), encoding: "UTF-8"), symbolize_names: true))
  rescue Errno::ENOENT
    Room.empty
  end

  # Whoever is killed amid this leaves the old file.
  def write(name, room)
    File.write("#{path_of(name)}.new", JSON.generate(room.to_a))
    File.rename("#{path_of(name)}.new", path_of(name))
  end

  def forget_some
    surplus = paths.size - ROOMS_MAX
    return unless surplus.positive?

    paths.lazy.select { |path| read(name_of(path)).deserted? }.first(surplus).each { |path| File.delete(path) }
  end

  def paths
    Dir.glob(File.join(@folder, "*.json")).sort_by { |path| File.mtime(path) }
  end

  def name_of(path)
    File.basename(path, ".json").force_encoding(Encoding::UTF_8)
  end

  def path_of(name)
    File.join(@folder, "#{name}.json")
  end
end
