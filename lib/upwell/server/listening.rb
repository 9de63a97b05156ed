# frozen_string_literal: true

require_relative "listening/inherited_sockets"
require_relative "listening/listeners"
require_relative "listening/control_listener"
require_relative "listening/reuseport_steering"

module Upwell
  class Server
    # Listening sockets.
    module Listening; end
  end
end
