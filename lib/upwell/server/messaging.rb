# frozen_string_literal: true

require_relative "messaging/bus_directory"
require_relative "messaging/channels"
require_relative "messaging/messages"

module Upwell
  class Server
    # Publish/subscribe between the processes of a server, and between servers.
    module Messaging; end
  end
end
