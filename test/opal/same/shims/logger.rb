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
