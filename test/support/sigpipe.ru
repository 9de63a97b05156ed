# frozen_string_literal: true

# Resets SIGPIPE, as command lines do, when it is asked to; sends a file; and tells which signals others have blocked.

FILE = ENV.fetch("FILE")
FileBody = Struct.new(:to_path) do
  def each
    yield File.binread(to_path)
  end
end

BLOCKED = "SigBlk:"
SPAWNED = -> { IO.popen(["grep", BLOCKED, "/proc/self/status"], &:read) }
THREAD = -> { Thread.new { File.foreach("/proc/thread-self/status").grep(/#{BLOCKED}/).join }.value }

SLOW = Enumerator.new do |pieces|
  pieces << "begun, "
  sleep 1
  pieces << "ended"
end

ANSWERS = {
  "/slow" => ->(_) { [200, { "content-length" => "12" }, SLOW] },
  "/trap" => ->(env) { [200, {}, [trap("PIPE", env["QUERY_STRING"]).inspect]] },
  "/file" => ->(_) { [200, { "content-length" => File.size(FILE).to_s }, FileBody.new(FILE)] },
  "/raising" => ->(_) { raise "on purpose" },
  "/pid" => ->(_) { [200, {}, [Process.pid.to_s]] },
  "/blocked" => ->(_) { [200, {}, [SPAWNED.call, THREAD.call]] }
}.freeze

run ->(env) { ANSWERS.fetch(env["PATH_INFO"]).call(env) }
