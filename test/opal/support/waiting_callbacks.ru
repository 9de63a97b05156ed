# frozen_string_literal: true

require "promise/v2"

# The first message of a client has the others wait until a request has come; then each is sent back.
class Waiting
  PROMISES = [] # rubocop:disable Style/MutableConstant -- of those who wait

  def on_message(client, data)
    return client.write(data) unless data == "wait"

    client.write("waits")
    PromiseV2.new.tap { |promise| PROMISES << promise }
  end
end

run(lambda do |env|
  env["rack.upgrade"] = Waiting.new
  Waiting::PROMISES.shift.resolve if env["PATH_INFO"] == "/settle"
  [200, {}, ["served"]]
end)
