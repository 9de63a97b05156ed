# frozen_string_literal: true

require "socket"

module Upwell
  module TLS
    # What an application gets that takes over a connection by TLS: one end of a socket pair, whose other end the server has. Where libraries,
    # which do not know that, ask it as a client's socket, it answers for the client's.
    class HijackedSocket < UNIXSocket
      TCP_LEVELS = [Socket::IPPROTO_TCP.to_s, "TCP", "IPPROTO_TCP", "SOL_TCP"].freeze
      private_constant :TCP_LEVELS

      # Options of TCP change nothing: the server has set TCP_NODELAY.
      #
      # @param level [Integer, Symbol, String, Socket::Option]
      # @return [Integer]
      # @see BasicSocket#setsockopt
      def setsockopt(level, *)
        number = level.is_a?(Socket::Option) ? level.level : level
        TCP_LEVELS.include?(number.to_s) ? 0 : super
      end

      # @return [Addrinfo] the client's
      def remote_address
        Addrinfo.tcp(*@client)
      end

      # @return [Array(String, Integer, String, String)] the client's, as {IPSocket#peeraddr} has it without asking for names
      def peeraddr(*)
        host, port = @client
        [remote_address.ipv6? ? "AF_INET6" : "AF_INET", port, host, host]
      end
    end
  end
end
