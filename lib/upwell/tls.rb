# frozen_string_literal: true

require_relative "tls/ssl_address"
require_relative "tls/credentials"
require_relative "tls/hijacked_socket"
require_relative "tls/settings_by_address"
require_relative "tls/self_signed"

module Upwell
  # The Ruby part of TLS: configuration and files. The protocol is in the core.
  module TLS
  end
end
