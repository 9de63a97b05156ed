# frozen_string_literal: true

# A harbour: everybody who opens the page has a lantern on the water, sees those of all others move, and says what there is to say.
#
#   bin/setup && cd examples/action_cable && bundle install && bundle exec upwell -w 2
#
# Two workers, no Redis: `adapter: upwell` carries what is broadcast from one to the other.
require "bundler/setup"
require "rails"
require "action_cable/engine"
require "upwell"

class Harbor < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.eager_load = false
  config.secret_key_base = "only for this example"
  config.logger = Logger.new($stderr)
  config.log_level = :warn
  config.hosts.clear
  config.public_file_server.enabled = false
  config.upwell.action_cable = true # the server's own WebSockets
end

require_relative "connection"
require_relative "water_channel"

ActionCable.server.config.cable = { "adapter" => "upwell" }.with_indifferent_access
Rails.application.initialize!

script = File.join(Gem.loaded_specs.fetch("actioncable").full_gem_path, "app/assets/javascripts/actioncable.esm.js")
page = File.join(__dir__, "index.html")

map("/actioncable.js") { run ->(_env) { [200, { "content-type" => "text/javascript" }, [File.read(script)]] } }
map("/cable") { run ActionCable.server }
map("/") { run ->(_env) { [200, { "content-type" => "text/html; charset=utf-8" }, [File.read(page)]] } }
