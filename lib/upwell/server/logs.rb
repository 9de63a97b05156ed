# frozen_string_literal: true

require_relative "logs/access_log"
require_relative "logs/backtraces"
require_relative "logs/log_file"
require_relative "logs/missing_libraries"
require_relative "logs/request_description"

module Upwell
  class Server
    # The log file, and the content of log records.
    module Logs; end
  end
end
