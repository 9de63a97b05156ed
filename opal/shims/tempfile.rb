# frozen_string_literal: true

require "tmpdir"
require "securerandom"

# A temporary file, which is removed when it is unlinked or when the program ends.
class Tempfile < File
  @paths = []

  class << self
    def create(name = "", folder = nil, mode: 0, **options)
      file = new(name, folder, mode: mode, **options)
      return file unless block_given?

      begin
        yield file
      ensure
        file.close!
      end
    end

    def open(*arguments, **options)
      file = new(*arguments, **options)
      return file unless block_given?

      begin
        yield file
      ensure
        file.close
      end
    end

    def paths
      unless @removes
        @removes = true
        at_exit { @paths.each { |path| File.unlink(path) if File.exist?(path) } }
      end
      @paths
    end
  end

  def initialize(name = "", folder = nil, mode: 0, **options)
    prefix, suffix = name.is_a?(Array) ? name : [name, ""]
    path = File.join(folder || Dir.tmpdir,
                     "#{File.basename(prefix)}#{Time.now.strftime("%Y%m%d")}-#{Process.pid}-#{SecureRandom.hex(6)}#{suffix}")
    super(path, "wx+", 0o600)
    @binary = options[:binmode] || options[:encoding].to_s == "ASCII-8BIT"
    Tempfile.paths << path
  end

  def path
    @unlinked ? nil : @path
  end

  def open
    close unless closed?
    reopen_at(@path, "r+")
    self
  end

  def unlink
    return if @unlinked

    File.unlink(@path)
    Tempfile.paths.delete(@path)
    @unlinked = true
  end

  alias delete unlink

  def close(unlink_now = false)
    super()
    unlink if unlink_now
  end

  def close!
    close(true)
  end

  def length
    size
  end
end
