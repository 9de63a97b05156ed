# frozen_string_literal: true

require_relative "tls/address"
require_relative "tls/credentials"
require_relative "tls/hijacked_socket"
require_relative "tls/plan"
require_relative "tls/self_signed"

module Upwell
  # TLS as far as it is in Ruby: what was configured, and the files. The rest is in the core.
  module TLS
  end
end
