# frozen_string_literal: true

require_relative "service_manager/cluster_notifier"
require_relative "service_manager/environment"
require_relative "service_manager/notifications"
require_relative "service_manager/single_notifier"

module Upwell
  class Server
    # The state of the server for the service manager, such as systemd.
    module ServiceManager; end
  end
end
