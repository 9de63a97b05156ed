# frozen_string_literal: true

require "sentry-ruby"

# Each report is told to the client whose request it is.
Sentry.init do |config|
  config.dsn = "http://key@localhost/1"
  config.transport.transport_class = Sentry::DummyTransport
  config.background_worker_threads = 0
  config.breadcrumbs_logger = []
  config.hub_isolation_level = ENV["LEVEL"] if ENV["LEVEL"]
end
Sentry.set_tags(loaded: "yes")

MET = Queue.new

# Each goes on when all have come, and reports what it has said about itself.
use Sentry::Rack::CaptureExceptions
run(lambda { |env|
  name = env["QUERY_STRING"]
  before = Sentry.get_current_scope.user
  Sentry.set_user(id: name)
  Sentry.set_tags(name: name)
  Sentry.add_breadcrumb(Sentry::Breadcrumb.new(message: name))
  MET << nil
  sleep 0.01 until MET.size >= 3
  event = Sentry.capture_message(name)
  [200, {}, [[before, event.user, event.tags, event.breadcrumbs.members.map(&:message)].inspect]]
})
