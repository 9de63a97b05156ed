# frozen_string_literal: true

# Forks a child that stays for as long as somebody has the pipe STAY open to write; and breaks an answer off, or takes all time over one.

pipe = File.new(ENV.fetch("STAY"))
stay = -> { fork { pipe.read } }
broken = Enumerator.new do |body|
  body << "half an "
  stay.call
  raise "on purpose"
end

run(lambda do |env|
  return [200, {}, broken] if env["PATH_INFO"] == "/broken"

  stay.call
  sleep if env["PATH_INFO"] == "/long"
  [200, {}, ["answer"]]
end)
