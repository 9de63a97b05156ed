# frozen_string_literal: true

# A body that answers to `call` is given a stream; each write is sent at once, and waits while the client does not keep up.
ticks = lambda do |stream|
  5.times { |number| stream.write("data: tick #{number}\n\n") }
ensure
  stream.close
end

run ->(_env) { [200, { "content-type" => "text/event-stream" }, ticks] }
