# frozen_string_literal: true

require_relative "shutdown/drain_deadline"
require_relative "shutdown/drain_delay"
require_relative "shutdown/termination"

module Upwell
  class Server
    # Draining, up to a deadline.
    module Shutdown; end
  end
end
