# frozen_string_literal: true

# /NNN answers with this status, /pid with the process, /publish publishes a message, and /gc runs the garbage collector. /held continues once
# the directory FOLDER has the file "go". /late ends after its content.
# Long-lived clients are accepted.

# Its last piece is sent before it ends.
class LateEnd
  def each
    yield "abc"
    sleep 0.05
  end
end

# Keeps its clients.
module Silent; end

run(lambda do |env|
  if env["rack.upgrade?"]
    env["rack.upgrade"] = Silent
    next [0, {}, []]
  end
  case env["PATH_INFO"]
  when %r{\A/\d{3}\z} then next [env["PATH_INFO"].delete("/").to_i, {}, []]
  when "/late" then next [200, { "content-length" => "3" }, LateEnd.new]
  when "/publish" then Upwell.publish("news", "hello")
  when "/gc" then GC.start
  when "/held"
    File.write(File.join(ENV.fetch("FOLDER"), "begun"), "")
    sleep 0.02 until File.exist?(File.join(ENV.fetch("FOLDER"), "go"))
  end
  [200, { "content-type" => "text/plain" }, [Process.pid.to_s]]
end)
