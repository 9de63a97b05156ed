# frozen_string_literal: true

# /held continues until the directory FOLDER has a file "go", and creates a file "begun-N" for each call. WebSockets are echoed.

require_relative "interpreter_lock_holder"

# Sends each message back.
module Echo
  def self.on_message(client, data)
    client.write(data)
  end
end

folder = ENV.fetch("FOLDER", nil)
calls = Queue.new

use InterpreterLockHolder
run(lambda do |env|
  if env["rack.upgrade?"] == :websocket
    env["rack.upgrade"] = Echo
    next [0, {}, []]
  end
  if env["PATH_INFO"] == "/held"
    calls << true
    File.write(File.join(folder, "begun-#{calls.size}"), "")
    sleep 0.02 until File.exist?(File.join(folder, "go"))
  end
  [200, { "content-type" => "text/plain" }, ["application #{env["REQUEST_METHOD"]} #{env["PATH_INFO"]}"]]
end)
