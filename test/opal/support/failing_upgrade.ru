# backtick_javascript: true
# frozen_string_literal: true

# Cannot be asked for its callbacks.
class Mute
  def respond_to?(*)
    raise "mute on purpose"
  end
end

# Handlers and requests with which no client can stay.
run(lambda do |env|
  case env["PATH_INFO"]
  when "/mute" then env["rack.upgrade"] = Mute.new
  when "/key"
    env["rack.upgrade"] = Object.new
    env["HTTP_SEC_WEBSOCKET_KEY"] = `({ toString() { throw new Error("no key on purpose"); } })`
  end
  [200, {}, ["line #{__LINE__}, #{`40 + 2`}"]]
end)
