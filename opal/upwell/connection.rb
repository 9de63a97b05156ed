# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # What the requests of a connection have in common.
  class Connection
    # @param address [String, nil] the client's; none on a UNIX socket
    # @param port [Integer, nil]
    # @param local_address [String, nil] where it came
    # @param local_port [Integer, nil]
    # @param tls [Hash, nil] what TLS adds to the env
    def initialize(address, port, local_address, local_port, tls)
      @address = address.to_s
      @port = port.to_s
      @local_address = local_address.to_s
      @local_port = local_port.to_s
      @tls = tls
      @scheme = tls ? "https" : "http"
    end
  end
end
