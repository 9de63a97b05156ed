# frozen_string_literal: true

require "openssl"
require "socket"
require_relative "../support/sanitizers"

# How clients and the server talk: in the clear, or with TLS=1 by TLS.
module PlainOrTLSSocket
  SECURE = ENV.key?("TLS")
  OPTIONS = SECURE ? %w[--secure --self-signed].freeze : []
  ENVIRONMENT = { "XDG_DATA_HOME" => Sanitizers::BUILT }.freeze # where the certificate is to lie

  # @param port [Integer]
  # @param seconds [Numeric, nil] to be connected in
  # @return [Socket, OpenSSL::SSL::SSLSocket]
  def self.open(port, seconds = nil)
    socket = Socket.tcp("127.0.0.1", port, connect_timeout: seconds)
    SECURE ? OpenSSL::SSL::SSLSocket.new(socket).tap { |secure| secure.sync_close = true }.connect : socket
  rescue OpenSSL::SSL::SSLError, SystemCallError
    socket&.close
    raise
  end

  # Also for what has been received, but not been read.
  def self.readable?(socket, seconds)
    (SECURE && socket.pending.positive?) || socket.to_io.wait_readable(seconds)
  end
end
