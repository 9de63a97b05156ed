# frozen_string_literal: true

require "logger"
require "stringio"

out = StringIO.new
log = Logger.new(out, level: :warn, progname: "app")
log.info("no")
log.warn("yes")
log.error { "block" }
log.error("name") { "named" }
log.fatal(RuntimeError.new("raised"))
log.add(Logger::WARN, [1, nil])
log.debug? || log << "raw\n"
puts out.string.gsub(/\[.*?\]/, "[]").sub(/\n\n/, "\n")
log.formatter = proc { |severity, time, name, text| "#{severity}|#{time.class}|#{name}|#{text}\n" }
log.level = Logger::DEBUG
out.string.clear
out.rewind
log.debug("d")
log.unknown("u")
log.log(Logger::INFO, "message", "name")
puts out.string
p log.level, log.warn?, log.debug?, log.progname, Logger.new(nil).info("x"), Logger::INFO
log.level = "error"
p log.level, log.info?
begin
  log.level = :loud
rescue ArgumentError => e
  p e.message
end

# A file that is moved away, and one that is to be rotated.
require "tmpdir"
Dir.mktmpdir do |folder|
  path = File.join(folder, "log")
  log = Logger.new(path, 0, formatter: ->(*, text) { "#{text}\n" })
  log.info("first")
  File.rename(path, "#{path}.1")
  log.info("second")
  p log.reopen.equal?(log)
  log.info("third")
  p File.read("#{path}.1")[/first\nsecond\n\z/], File.read(path)[/third\n\z/]
  log.reopen(out = StringIO.new)
  log.info("fourth")
  p out.string
  p RUBY_ENGINE != "opal" || (Logger.new(path, "daily") rescue $!.message[/not rotated/]) == "not rotated", Logger.new(out, 5, 100).info?
end

# A full disk.
class Full
  def write(*) = raise(Errno::ENOSPC)
  def close = nil
end
$stderr = StringIO.new
p Logger.new(Full.new).info("lost"), (Logger.new(Full.new) << "lost" and nil), $stderr.string[/log writing failed/]
$stderr = STDERR
