# frozen_string_literal: true

require "action_cable"
require "upwell"
require_relative "action_cable/channel"
require_relative "action_cable/connection"
require_relative "action_cable/server"
require_relative "action_cable/web_socket"

module Upwell
  # Action Cable over the server's own WebSockets, without further threads, selectors and buffers. Connections, channels, streams and the
  # configuration remain Action Cable's. Under another server nothing changes.
  module ActionCable
    ::ActionCable::Server::Base.prepend(Server)
    ::ActionCable::Connection::WebSocket.prepend(WebSocket)
    ::ActionCable::Connection::Base.prepend(Connection)
    ::ActionCable::Channel::Base.prepend(Channel)
  end
end
