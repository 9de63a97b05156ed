# backtick_javascript: true
# frozen_string_literal: true

require "upwell/fast_constructor"

module Upwell
  # Data that all requests of a connection share.
  class ConnectionInfo
    extend FastConstructor

    quick_new "address", "port", "local_address", "local_port", "tls", "scheme"

    # @param address [String, nil] the client's address; nil on a UNIX socket
    # @param port [Integer, nil]
    # @param local_address [String, nil] the server's address
    # @param local_port [Integer, nil]
    # @param tls [Hash, nil] variables that TLS adds to the env
    def initialize(address, port, local_address, local_port, tls)
      @address = text(address)
      @port = text(port)
      @local_address = text(local_address)
      @local_port = text(local_port)
      @tls = tls
      @scheme = `tls === nil` ? "http" : "https"
    end

    private

    # The address of an IPv4 client on a dual-stack socket is written as IPv4.
    def text(value)
      `value === nil ? "" : ("" + value).replace(/^::ffff:(?=\d+\.)/, "")`
    end
  end
end
