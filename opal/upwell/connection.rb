# backtick_javascript: true
# frozen_string_literal: true

require "upwell/quick_new"

module Upwell
  # What the requests of a connection have in common.
  class Connection
    extend QuickNew

    quick_new "address", "port", "local_address", "local_port", "tls", "scheme"

    # @param address [String, nil] the client's; none on a UNIX socket
    # @param port [Integer, nil]
    # @param local_address [String, nil] where it came
    # @param local_port [Integer, nil]
    # @param tls [Hash, nil] what TLS adds to the env
    def initialize(address, port, local_address, local_port, tls)
      @address = text(address)
      @port = text(port)
      @local_address = text(local_address)
      @local_port = text(local_port)
      @tls = tls
      @scheme = `tls === nil` ? "http" : "https"
    end

    private

    def text(value)
      `value === nil ? "" : "" + value`
    end
  end
end
