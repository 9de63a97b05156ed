# frozen_string_literal: true

# An application whose children wait at their end.
told = nil

at_exit do
  next unless told

  began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  value = Thread.new { sleep(0.1) && 9 }.value
  sleep 0.1
  File.write(told, "#{value} after #{(Process.clock_gettime(Process::CLOCK_MONOTONIC) - began).round(1)} s")
end

run(lambda { |env|
  path = env["QUERY_STRING"]
  Process.wait(fork { told = path })
  [200, {}, [File.read(path)]]
})
