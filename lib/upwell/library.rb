# frozen_string_literal: true

require_relative "publishing"
require_relative "version"

# An event loop in C on io_uring, epoll, kqueue or poll, and on top of it a Rack server and a server of static files. Without the extension, or
# with UPWELL_PURE=1, the loop, the selector and the scheduler are in Ruby, and there is no server.
module Upwell
  begin
    raise LoadError, "UPWELL_PURE is set" if ENV["UPWELL_PURE"] == "1"

    compiled = "upwell/#{RUBY_VERSION[/\A\d+\.\d+/]}/upwell" # in a gem that is compiled already: for each of several Rubies
    require File.exist?(File.expand_path("../#{compiled}.so", __dir__)) ? compiled : "upwell/upwell"
    require_relative "scheduler"
  rescue LoadError => e
    # Why the extension was not loaded.
    LOAD_ERROR = e
    require_relative "without_extension"
  end

  # The server is there for who serves: loops, selectors and schedulers do without.
  autoload :Configuration, "upwell/configuration"
  autoload :ConfigurationError, "upwell/configuration"
  autoload :ErrorLog, "upwell/error_log"
  autoload :EventStream, "upwell/event_stream"
  autoload :HeldErrors, "upwell/held_errors"
  autoload :Log, "upwell/log"
  autoload :PubSub, "upwell/pub_sub"
  autoload :SETTINGS, "upwell/settings"
  autoload :Server, "upwell/server"
  autoload :StaticConfiguration, "upwell/static_configuration"
  autoload :StaticServer, "upwell/static_server"
  autoload :Subscription, "upwell/subscription"
  autoload :TLS, "upwell/tls"
end
