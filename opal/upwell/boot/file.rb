# backtick_javascript: true
# frozen_string_literal: true

require "upwell/boot/errno"
require "upwell/boot/byte_stream"

# Files. Reads and writes are synchronous, in bytes or in UTF-8 text.
class File < IO
  include Upwell::ByteStream

  `var fs = require('fs'), paths = require('path')`

  module Constants
    RDONLY = 0
    WRONLY = 1
    RDWR = 2
    CREAT = 64
    EXCL = 128
    TRUNC = 512
    APPEND = 1024
    NONBLOCK = 2048
    BINARY = 0
    LOCK_SH = 1
    LOCK_EX = 2
    LOCK_NB = 4
    LOCK_UN = 8
    FNM_PATHNAME = 2
    FNM_DOTMATCH = 4
    FNM_CASEFOLD = 8
    FNM_EXTGLOB = 16
  end
  include Constants

  class << self
    undef read, write, delete, unlink, exist?, directory?, file?, readable?, size, open, stat, mtime, symlink?

    def join(*parts)
      parts.flatten.map { |part| part.respond_to?(:to_path) ? part.to_path : part.to_s }.inject do |path, part|
        "#{path.sub(%r{/+\z}, "")}/#{part.sub(%r{\A/+}, "")}"
      end || ""
    end

    def path_of(path)
      path = path.to_path if path.respond_to?(:to_path)
      raise ArgumentError, "string contains null byte" if path.include?("\0")

      `path.valueOf()`
    end

    def open(*arguments, **options)
      file = new(*arguments, **options)
      return file unless block_given?

      begin
        yield file
      ensure
        file.close unless file.closed?
      end
    end

    def read(path, length = nil, offset = nil, mode: "r", **options)
      open(path, mode, **options) do |file|
        file.seek(offset) if offset
        file.read(length)
      end
    end

    def binread(path, length = nil, offset = nil)
      read(path, length, offset, mode: "rb")
    end

    def write(path, text, mode: "w", **)
      open(path, mode) { |file| file.write(text) }
    end

    def binwrite(path, text)
      write(path, text, mode: "wb")
    end

    def readlines(path, chomp: false)
      open(path) { |file| file.readlines(chomp: chomp) }
    end

    def foreach(path, chomp: false, &block)
      return readlines(path, chomp: chomp).each unless block

      open(path) { |file| file.each(chomp: chomp, &block) }
      nil
    end

    def delete(*files)
      files.each { |file| Errno.translate(file) { `fs.unlinkSync(#{path_of(file)})` } }
      files.size
    end

    alias unlink delete

    def rename(from, to)
      Errno.translate(from) { `fs.renameSync(#{path_of(from)}, #{path_of(to)})` }
      0
    end

    def symlink(from, to)
      Errno.translate(to) { `fs.symlinkSync(#{path_of(from)}, #{path_of(to)})` }
      0
    end

    def link(from, to)
      Errno.translate(to) { `fs.linkSync(#{path_of(from)}, #{path_of(to)})` }
      0
    end

    def readlink(path)
      Errno.translate(path) { `fs.readlinkSync(#{path_of(path)})` }
    end

    def chmod(mode, *files)
      files.each { |file| Errno.translate(file) { `fs.chmodSync(#{path_of(file)}, mode)` } }
      files.size
    end

    def utime(accessed, modified, *files)
      files.each { |file| Errno.translate(file) { `fs.utimesSync(#{path_of(file)}, #{accessed.to_f}, #{modified.to_f})` } }
      files.size
    end

    def truncate(path, length)
      Errno.translate(path) { `fs.truncateSync(#{path_of(path)}, length)` }
      0
    end

    def exist?(path)
      `fs.existsSync(#{path_of(path)})`
    end

    def stat(path)
      Stat.new(path)
    end

    def lstat(path)
      Stat.new(path, false)
    end

    def directory?(path)
      kind?(path) { |stat| stat.directory? }
    end

    def file?(path)
      kind?(path) { |stat| stat.file? }
    end

    def symlink?(path)
      stat = `fs.lstatSync(#{path_of(path)}, { throwIfNoEntry: false })`
      `stat !== undefined && stat.isSymbolicLink()`
    end

    def zero?(path)
      kind?(path) { |stat| stat.size.zero? }
    end

    alias empty? zero?

    def size?(path)
      size = kind?(path) { |stat| stat.size }
      size && size.positive? ? size : nil
    end

    def size(path)
      stat(path).size
    end

    def mtime(path)
      stat(path).mtime
    end

    def atime(path)
      stat(path).atime
    end

    def ctime(path)
      stat(path).ctime
    end

    def readable?(path)
      access?(path, `fs.constants.R_OK`)
    end

    def writable?(path)
      access?(path, `fs.constants.W_OK`)
    end

    def executable?(path)
      access?(path, `fs.constants.X_OK`)
    end

    def expand_path(path, folder = nil)
      path = path_of(path)
      path = path.sub(/\A~/) { Dir.home } if path.start_with?("~")
      `paths.resolve(#{folder ? expand_path(folder) : Dir.pwd}, path)`
    end

    def absolute_path?(path)
      path_of(path).start_with?("/")
    end

    def realpath(path, folder = nil)
      Errno.translate(path) { `fs.realpathSync(#{folder ? expand_path(path, folder) : path_of(path)})` }
    end

    def identical?(one, other)
      stat(one).ino == stat(other).ino
    end

    def umask(*)
      0o22
    end

    def fnmatch(pattern, path, flags = 0)
      Upwell::GlobPattern.new(pattern, flags).match?(path)
    end

    alias fnmatch? fnmatch

    private

    def kind?(path)
      path = path.path if path.respond_to?(:path)
      stat = `fs.statSync(#{path_of(path)}, { throwIfNoEntry: false })`
      `stat !== undefined` && yield(Stat.of(stat))
    rescue SystemCallError
      false
    end

    def access?(path, mode)
      %x{
        try { fs.accessSync(#{path_of(path)}, mode); return true; }
        catch (error) { return false; }
      }
    end
  end

  # The file system's metadata of a file.
  class Stat
    include Comparable

    def self.of(raw)
      stat = allocate
      `stat.raw = raw`
      stat
    end

    def initialize(path, follows = true)
      path = path.path if path.respond_to?(:path)
      path = File.path_of(path)
      `self.raw = #{Errno.translate(path) { `follows ? fs.statSync(path) : fs.lstatSync(path)` }}`
    end

    def file?
      `self.raw.isFile()`
    end

    def directory?
      `self.raw.isDirectory()`
    end

    def symlink?
      `self.raw.isSymbolicLink()`
    end

    def socket?
      `self.raw.isSocket()`
    end

    def pipe?
      `self.raw.isFIFO()`
    end

    def size
      `self.raw.size`
    end

    def zero?
      size.zero?
    end

    def mode
      `self.raw.mode`
    end

    def ino
      `self.raw.ino`
    end

    def dev
      `self.raw.dev`
    end

    def owned?
      uid == Process.uid
    end

    def uid
      `self.raw.uid`
    end

    def gid
      `self.raw.gid`
    end

    def nlink
      `self.raw.nlink`
    end

    def mtime
      `new Date(self.raw.mtimeMs)`
    end

    def atime
      `new Date(self.raw.atimeMs)`
    end

    def ctime
      `new Date(self.raw.ctimeMs)`
    end

    def ftype
      return "file" if file?

      directory? ? "directory" : "unknown"
    end

    def readable?
      mode & 0o444 != 0
    end

    def writable?
      mode & 0o222 != 0
    end

    def executable?
      mode & 0o111 != 0
    end

    def <=>(other)
      mtime <=> other.mtime
    end
  end

  attr_reader :path, :fileno

  alias to_path path

  def initialize(path, mode = "r", permissions = 0o666, **options) # rubocop:disable Lint/MissingSuper
    @path = Integer === path ? nil : File.path_of(path)
    reopen_at(path, options[:mode] || mode, permissions)
    @binary ||= options[:binmode] || false
    @encoding = Encoding.find(options[:encoding].to_s.split(":").first) if options[:encoding]
  end

  def size
    `fs.fstatSync(#{@fileno}).size`
  end

  def stat
    Stat.of(`fs.fstatSync(#{@fileno})`)
  end

  alias lstat stat

  def mtime
    stat.mtime
  end

  def atime
    stat.atime
  end

  def ctime
    stat.ctime
  end

  def external_encoding
    @encoding || (@binary ? Encoding::ASCII_8BIT : Encoding::UTF_8)
  end

  def internal_encoding
    nil
  end

  def set_encoding(encoding, *)
    @encoding = Encoding.find(encoding.to_s.split(":").first)
    self
  end

  def binmode
    @binary = true
    self
  end

  def binmode?
    @binary
  end

  def write(*texts)
    check_writable
    texts.sum { |text| write_one(text.to_s) }
  end

  alias syswrite write

  def truncate(length)
    `fs.ftruncateSync(#{@fileno}, length)`
    0
  end

  def chmod(mode)
    `fs.fchmodSync(#{@fileno}, mode)`
    0
  end

  def flock(_operation)
    0
  end

  def fsync
    `fs.fsyncSync(#{@fileno})`
    0
  end

  alias fdatasync fsync

  def sync
    true
  end

  def sync=(value)
    value
  end

  def tty?
    false
  end

  alias isatty tty?

  def to_io
    self
  end

  def close
    return if @closed == :both

    `fs.closeSync(#{@fileno})`
    @closed = :both
    nil
  end

  def closed?
    @closed == :both
  end

  def inspect
    "#<#{self.class}:#{@path}#{" (closed)" if closed?}>"
  end

  private

  def reopen_at(path, mode, permissions = 0o666)
    flags = Integer === mode ? mode : flags_of(mode)
    @fileno = Integer === path ? path : Errno.translate(@path) { `fs.openSync(#{@path}, flags, permissions)` }
    @position = 0
    @appends = mode.to_s.start_with?("a")
    @binary = mode.to_s.include?("b") || mode.to_s.upcase.include?("BINARY") || mode.to_s.upcase.include?("ASCII-8BIT")
    @closed = closed_side(mode)
  end

  def flags_of(mode)
    letters = mode.to_s.split(":").first.delete("bt")
    letters = letters.delete("x") + "x" if letters.include?("x")
    letters.sub("+x", "x+")
  end

  def closed_side(mode)
    return nil if Integer === mode ? mode & 3 == 2 : mode.include?("+")
    return mode & 3 == 0 ? :write : :read if Integer === mode

    mode.start_with?("r") ? :write : :read
  end

  def latin1_at(position, length)
    %x{
      var buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, fs.fstatSync(#{@fileno}).size - position))), read = 0, more;
      while (read < buffer.length && (more = fs.readSync(#{@fileno}, buffer, read, buffer.length - read, position + read)) > 0) read += more;
      return buffer.latin1Slice(0, read);
    }
  end

  def decoded(latin1)
    encoding = external_encoding
    encoding == Encoding::UTF_8 ? `Opal.from_latin1(latin1)` : `Opal.force_encoding(Opal.new_bytes(latin1), encoding)`
  end

  def write_one(text)
    buffer = `Opal.to_buffer(text)`
    position = @appends ? nil : @position
    written = Errno.translate(@path) { `fs.writeSync(#{@fileno}, buffer, 0, buffer.length, position === nil ? null : position)` }
    @position = @appends ? size : @position + written
    written
  end
end

class IO
  include File::Constants

  class << self
    undef read, write, binread

    def read(...)
      File.read(...)
    end

    def binread(...)
      File.binread(...)
    end

    def write(...)
      File.write(...)
    end

    def readlines(...)
      File.readlines(...)
    end

    def foreach(...)
      File.foreach(...)
    end

    def copy_stream(source, target)
      source = File.open(source, "rb") if String === source
      written = 0
      while (piece = source.read(65_536))
        written += target.write(piece)
      end
      written
    end
  end

  def isatty
    tty?
  end

  def fsync
    0
  end

  def external_encoding
    Encoding::UTF_8
  end

  def set_encoding(*)
    self
  end

  def binmode
    self
  end

  def to_io
    self
  end
end
