# frozen_string_literal: true

require_relative "processes/cluster"
require_relative "processes/embedded"
require_relative "processes/process_title"
require_relative "processes/single"

module Upwell
  class Server
    # The processes of a server: the single process, a supervisor and its workers, or the process of another program.
    module Processes; end
  end
end
