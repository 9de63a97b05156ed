# frozen_string_literal: true

# Forks a child that stays until the server has ended; and breaks an answer off.

ended, OURS = IO.pipe
stay = lambda do
  fork do
    OURS.close
    ended.read
  end
end
broken = Enumerator.new do |body|
  body << "half an "
  stay.call
  raise "on purpose"
end

run ->(env) { [200, {}, env["PATH_INFO"] == "/broken" ? broken : [stay.call.to_s]] }
