# frozen_string_literal: true

require_relative "watchdogs/loop_watchdog"
require_relative "watchdogs/threads_watchdog"

module Upwell
  class Server
    # Threads that report requests without progress.
    module Watchdogs; end
  end
end
