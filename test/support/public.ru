# frozen_string_literal: true

# Answers what the public folder does not. "/holds" has a thread keep the interpreter's lock for a while, in one call without a pause, and tells
# so in the process's title.

ROUNDS = 2_000_000

def hold
  Process.setproctitle("holding")
  "secret".crypt("$6$rounds=#{ROUNDS}$saltsalt")
  Process.setproctitle("done")
end

run lambda { |env|
  Thread.new { hold } if env["PATH_INFO"] == "/holds"
  [200, { "content-type" => "text/plain", "x-app" => "yes" }, ["#{env["REQUEST_METHOD"]} #{env["PATH_INFO"]}"]]
}
