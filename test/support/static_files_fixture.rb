# frozen_string_literal: true

require "fileutils"
require "tmpdir"
require "zlib"

# The folder that is served, a file outside of it, and what a traversal must not find.
class StaticFilesFixture
  LARGE_BYTES = 3_000_000

  # @return [String] of the folder, and of a FIFO outside of it
  attr_reader :path, :lock

  def initialize
    @outside = Dir.mktmpdir
    @path = File.join(@outside, "www")
    @lock = File.join(@outside, "lock")
    File.mkfifo(@lock)
    fill
  end

  def write(name, content)
    file = File.join(path, name)
    FileUtils.mkdir_p(File.dirname(file))
    File.binwrite(file, content)
  end

  # As editors and deployments do: another file under the same name.
  def replace(name, content)
    write("#{name}.new", content)
    File.rename(File.join(path, "#{name}.new"), File.join(path, name))
  end

  def remove
    FileUtils.rm_rf(@outside)
  end

  private

  def fill
    { "index.html" => "<h1>root</h1>", "a.txt" => "0123456789", "sub/index.html" => "sub", "list/b&c.txt" => "x",
      "list/two\nlines.txt" => "x", "list/\x7f.txt" => "x",
      "ä ö.txt" => "umlaut", "large.bin" => Random.new(1).bytes(LARGE_BYTES), "app.js" => "let a", "app.js.gz" => Zlib.gzip("let a"),
      ".secret" => "secret", ".well-known/security.txt" => "contact", "404.html" => "<h1>not here</h1>", "empty.css" => "",
      "../outside.txt" => "secret" }.each { |name, content| write(name, content) }
    File.utime(*[Time.at(1_000_000_000)] * 2, File.join(path, "a.txt")) # a date is told once its second is over
    File.symlink("../outside.txt", File.join(path, "leads_out.txt"))
    File.symlink("a.txt", File.join(path, "link.txt"))
    File.mkfifo(File.join(path, "fifo"))
  end
end
