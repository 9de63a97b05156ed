# frozen_string_literal: true

require "socket"
require_relative "server_process"

# Starts servers as systemd does: with listening sockets as descriptors from 3 on.
module SocketActivation
  FIRST = 3
  AS_ITSELF = ["sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh"].freeze # the process has its number before the server begins

  # @param sockets [Array<Socket>]
  # @return [Hash{Symbol => Object}] options of ServerProcess
  def self.options(sockets, environment: {}, **options)
    passed = sockets.each_with_index.to_h { |socket, index| [FIRST + index, socket] }
    { bind: [], prefix: AS_ITSELF, environment: { "LISTEN_FDS" => sockets.size.to_s, **environment }, spawn: passed, **options }
  end

  # Starts a server, yields it, and ends it.
  def self.open(sockets, *arguments, **options, &block)
    ServerProcess.open(*arguments, **options(sockets, **options), &block)
  end

  # As systemd has it: other processes that accept from it may block.
  #
  # @return [Socket] one that listens on a free port
  def self.tcp(host = "127.0.0.1", port = 0, reuse_port: false)
    listening(Addrinfo.tcp(host, port), reuse_port: reuse_port)
  end

  # @return [Socket]
  def self.unix(path)
    listening(Addrinfo.unix(path))
  end

  def self.listening(address, reuse_port: false)
    socket = Socket.new(address.afamily, Socket::SOCK_STREAM, 0)
    socket.setsockopt(:SOCKET, :REUSEADDR, true)
    socket.setsockopt(:SOCKET, :REUSEPORT, true) if reuse_port
    socket.bind(address)
    socket.listen(Socket::SOMAXCONN)
    socket
  end
  private_class_method :listening

  # @return [Integer]
  def self.port(socket)
    socket.local_address.ip_port
  end
end
