# frozen_string_literal: true

# A harbour at night: everybody who opens the page has a lantern on the water, sees those of all others move, and says what there is to say.
#
#   cd examples/action_cable && bundle install && bundle exec upwell -w 2
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

module ApplicationCable
  class Connection < ActionCable::Connection::Base
    identified_by :id

    def connect
      self.id = SecureRandom.alphanumeric(8)
    end
  end
end

class WaterChannel < ActionCable::Channel::Base
  NAME_MAX = 20 # characters
  TEXT_MAX = 140

  def subscribed
    stream_from "water"
    transmit({ you: connection.id, worker: Process.pid })
    tell arrived: true
  end

  def unsubscribed
    tell left: true
  end

  # Where its lantern is, from 0 to 1.
  def move(data)
    tell x: data["x"].to_f.clamp(0, 1), y: data["y"].to_f.clamp(0, 1), name: data["name"].to_s[0, NAME_MAX], hue: data["hue"].to_i % 360
  end

  def say(data)
    text = data["text"].to_s.strip[0, TEXT_MAX]
    tell text: text unless text.empty?
  end

  private

  def tell(**what)
    ActionCable.server.broadcast("water", { id: connection.id, worker: Process.pid, **what })
  end
end

ActionCable.server.config.cable = { "adapter" => "upwell" }.with_indifferent_access
Rails.application.initialize!

script = File.join(Gem.loaded_specs.fetch("actioncable").full_gem_path, "app/assets/javascripts/actioncable.esm.js")
page = File.join(__dir__, "index.html")

map("/actioncable.js") { run ->(_env) { [200, { "content-type" => "text/javascript" }, [File.read(script)]] } }
map("/cable") { run ActionCable.server }
map("/") { run ->(_env) { [200, { "content-type" => "text/html; charset=utf-8" }, [File.read(page)]] } }
