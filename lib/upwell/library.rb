# frozen_string_literal: true

require_relative "publish_subscribe_methods"
require_relative "version"

# An event loop in C on io_uring, epoll, kqueue or poll, with a Rack server and a static file server. Without the extension, or with
# UPWELL_PURE=1, the loop, the selector and the scheduler are in Ruby, and the servers are missing.
module Upwell
  begin
    raise LoadError, "UPWELL_PURE is set" if ENV["UPWELL_PURE"] == "1"

    compiled = "upwell/#{RUBY_VERSION[/\A\d+\.\d+/]}/upwell" # a precompiled gem has a directory for each Ruby version
    require File.exist?(File.expand_path("../#{compiled}.so", __dir__)) ? compiled : "upwell/upwell"
  rescue LoadError => e
    # The reason why the extension was not loaded.
    LOAD_ERROR = e
    require_relative "without_extension"
  end
  require_relative "scheduler"

  # Only servers need these constants: loops, selectors and schedulers work without them.
  autoload :Configuration, "upwell/configuration"
  autoload :ConfigurationError, "upwell/configuration"
  autoload :ExceptionLog, "upwell/exception_log"
  autoload :EventStream, "upwell/event_stream"
  autoload :RackErrorsWrapper, "upwell/rack_errors_wrapper"
  autoload :Log, "upwell/log"
  autoload :PubSub, "upwell/pub_sub"
  autoload :SETTINGS, "upwell/settings"
  autoload :Server, "upwell/server"
  autoload :StaticConfiguration, "upwell/static_configuration"
  autoload :StaticServer, "upwell/static_server"
  autoload :Subscription, "upwell/subscription"
  autoload :TLS, "upwell/tls"
end
