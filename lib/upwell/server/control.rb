# frozen_string_literal: true

require_relative "control/commands"
require_relative "control/default_signals"
require_relative "control/signal_pipe"
require_relative "control/signals"

module Upwell
  class Server
    # The ways in which the operator controls a process of the server.
    module Control; end
  end
end
