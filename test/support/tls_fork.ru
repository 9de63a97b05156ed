# frozen_string_literal: true

# Starts processes within a request, in every way, while the client's connection goes on.
WAYS = {
  "/exit" => -> { Process.wait(fork { exit }) },
  "/exit-at-once" => -> { Process.wait(fork { exit! }) },
  "/without-a-block" => -> { (pid = fork) ? Process.wait(pid) : exit },
  "/exec" => -> { Process.wait(fork { exec("true") }) },
  "/killed" => -> { Process.wait(fork { Process.kill("KILL", Process.pid) }) },
  "/system" => -> { system("true") },
  "/popen" => -> { IO.popen("echo", &:read) },
  "/spawn" => -> { Process.wait(spawn("true")) }
}.freeze

# Its child writes to the client, too, which is its parent's.
STREAM = lambda do |stream|
  pid = fork do
    stream.write("from the child")
    stream.close
  rescue StandardError
    exit!
  end
  Process.wait(pid)
  stream.write("/stream")
  stream.close
end

run(lambda do |env|
  path = env["PATH_INFO"]
  next [200, {}, STREAM] if path == "/stream"
  next [200, {}, [fork { sleep }.tap { |pid| Process.detach(pid) }.to_s]] if path == "/staying"

  WAYS[path]&.call
  [200, { "content-length" => path.bytesize.to_s }, [path]]
end)
