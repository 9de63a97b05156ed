# frozen_string_literal: true

require "action_cable"
require "upwell"
require_relative "action_cable/channel"
require_relative "action_cable/connection"
require_relative "action_cable/server"
require_relative "action_cable/web_socket"

module Upwell
  # Action Cable whose WebSockets are the server's own: no thread, no selector and no buffer beside those that serve requests. Connections,
  # channels, streams and the configuration are Action Cable's. Where another server serves, everything is as it was.
  module ActionCable
    ::ActionCable::Server::Base.prepend(Server)
    ::ActionCable::Connection::WebSocket.prepend(WebSocket)
    ::ActionCable::Connection::Base.prepend(Connection)
    ::ActionCable::Channel::Base.prepend(Channel)
  end
end
