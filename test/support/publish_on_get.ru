# frozen_string_literal: true

# Prints what each worker hears; GET /TEXT publishes, by an engine of the application's own where REDIS names one.
Upwell::PubSub.default = Upwell::PubSub::Redis.new(ENV["REDIS"]) if ENV["REDIS"]
hear = lambda do |_channel, message|
  $stderr.syswrite("heard #{message} in #{Process.pid}\n")
end
if Upwell.respond_to?(:subscribe)
  Upwell.subscribe("news", &hear)
else
  Upwell::PubSub.delivery = hear
  Upwell::PubSub.engines.changed("news", nil, true)
end

run ->(env) { [200, {}, [Rack::PubSub.publish("news", env["PATH_INFO"].delete_prefix("/")).to_s]] }
