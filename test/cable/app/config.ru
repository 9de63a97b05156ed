# frozen_string_literal: true

require "bundler/setup"
require "rails"
require "action_cable/engine"
require "upwell"

# Nothing but Action Cable. NATIVE=1 has its WebSockets be the server's own, ADAPTER names what broadcasts.
class CableApp < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.eager_load = false
  config.secret_key_base = "0" * 64
  config.hosts.clear
  config.logger = Logger.new($stderr)
  config.log_level = :warn
  config.public_file_server.enabled = false
  config.action_cable.allowed_request_origins = ["http://here.test"]
  config.action_cable.worker_pool_size = 1 # so Action Cable's own way keeps the order, too
  config.upwell.action_cable = ENV["NATIVE"] == "1"
end

module ApplicationCable
  class Connection < ActionCable::Connection::Base
    identified_by :name

    def connect
      raise "fails" if request.params[:fails]

      self.name = request.params[:name] || reject_unauthorized_connection
    end
  end
end

# What each says goes to all of its room.
class RoomChannel < ActionCable::Channel::Base
  def subscribed
    params[:room] == "closed" ? reject : stream_from(room)
  end

  def say(data)
    ActionCable.server.broadcast(room, data.except("action"))
  end

  def leave
    stop_stream_from(room)
    transmit({ left: room })
  end

  def transmit(data, via: nil)
    super(params[:loud] ? data.merge(loud: true) : data, via: via)
  end

  private

  def room
    "room_#{params[:room]}"
  end
end

# Streams of nothing but messages, which are not decoded by callbacks, nor changed.
class NewsChannel < ActionCable::Channel::Base
  def subscribed
    stream_from("news_#{params[:of]}")
  end

  def tell(data)
    ActionCable.server.broadcast("news_#{params[:of]}", data["news"])
  end
end

# A stream with a callback and a coder.
class CountChannel < ActionCable::Channel::Base
  def subscribed
    stream_from("count_#{params[:of]}", coder: ActiveSupport::JSON) { |message| transmit({ counted: message["count"] + 1 }) }
  end

  def count(data)
    ActionCable.server.broadcast("count_#{params[:of]}", { count: data["count"] })
  end
end

class AnswerChannel < ActionCable::Channel::Base
  rescue_from(ArgumentError) { |error| transmit({ rescued: error.message }) }

  def echo(data)
    transmit({ echo: data["text"] })
  end

  def fail(data)
    raise ArgumentError, data["text"]
  end

  def whereabouts
    transmit({ pid: Process.pid, tasks: Dir.children("/proc/self/task").size, native: connection.try(:served_here?) || false,
               connections: ActionCable.server.connections.size })
  end

  def disconnect_others(data)
    ActionCable.server.remote_connections.where(name: data["name"]).disconnect
  end

  def restart
    ActionCable.server.restart
  end
end

ActionCable.server.config.cable = { "adapter" => ENV.fetch("ADAPTER", "async") }.with_indifferent_access
Rails.application.initialize!
run Rails.application
