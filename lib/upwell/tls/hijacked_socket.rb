# frozen_string_literal: true

require "socket"

module Upwell
  module TLS
    # The IO of an application that hijacks a TLS connection: one end of a socket pair, whose other end the server has. Libraries treat it as the
    # client's socket, so some methods return the client's values.
    class HijackedSocket < UNIXSocket
      TCP_LEVELS = [Socket::IPPROTO_TCP.to_s, "TCP", "IPPROTO_TCP", "SOL_TCP"].freeze
      private_constant :TCP_LEVELS

      # Ignores TCP options: the server has set TCP_NODELAY.
      #
      # @param level [Integer, Symbol, String, Socket::Option]
      # @return [Integer]
      # @see BasicSocket#setsockopt
      def setsockopt(level, *)
        number = level.is_a?(Socket::Option) ? level.level : level
        TCP_LEVELS.include?(number.to_s) ? 0 : super
      end

      # @return [Addrinfo] the client's address
      def remote_address
        Addrinfo.tcp(*@client)
      end

      # @return [Array(String, Integer, String, String)] the client's address, as from {IPSocket#peeraddr} without name resolution
      def peeraddr(*)
        host, port = @client
        [remote_address.ipv6? ? "AF_INET6" : "AF_INET", port, host, host]
      end
    end
  end
end
