# frozen_string_literal: true

require_relative "hot_restart/command_line"
require_relative "hot_restart/handover"
require_relative "hot_restart/predecessor"
require_relative "hot_restart/successor"

module Upwell
  class Server
    # A new server takes over the listening sockets of a running one, which then drains.
    module HotRestart; end
  end
end
