# frozen_string_literal: true

require "io/nonblock"
require "socket"

module Upwell
  class Server
    module Listening
      # A listening socket of the service manager, which keeps it open when the server exits.
      class InheritedSocket
        ANY_IPV4 = "0.0.0.0"
        ANY_IPV6 = "::"

        # @return [Socket]
        attr_reader :socket
        # @return [Array<Integer>] see {Listeners.file_number}; empty if unknown
        attr_reader :file_number

        # @param socket [Socket]
        # @param file_number [Array<Integer>] of the file of a UNIX socket
        def initialize(socket, file_number = [])
          @socket = socket
          @file_number = file_number
          @address = socket.local_address
        end

        # @return [String] the address in the form of the setting `bind`
        def bind
          return "#{BindAddress::UNIX}#{path}" if @address.unix?

          @address.ipv6? ? "[#{@address.ip_address}]:#{@address.ip_port}" : "#{@address.ip_address}:#{@address.ip_port}"
        end

        # @param other [String] the path of a UNIX socket, which may lead through symbolic links
        # @return [Boolean]
        def path?(other)
          @address.unix? && ([other, File.absolute_path(other)].map(&:b).include?(path.b) || same_file?(other))
        end

        # @param other [String] the path of a UNIX socket
        # @return [Boolean] whether the file is still the socket's
        def file?(other)
          file_number == Listeners.file_number(other)
        rescue SystemCallError
          false
        end

        # @param other [Addrinfo] a TCP address
        # @return [Boolean] whether the socket has this address
        def address?(other)
          @address.ip? && @address.ip_port == other.ip_port && @address.ip_address == other.ip_address
        end

        # @param other [Addrinfo] a TCP address
        # @return [Boolean] whether clients of that address reach this socket, so that no other socket can be bound to it
        def covers?(other)
          address?(other) || (port == other.ip_port && any?(other))
        end

        # @return [Boolean] whether the socket has IPv4 clients
        def ipv4?
          @address.ipv4? || (@address.ipv6? && @address.ip_address == ANY_IPV6 && !v6_only?)
        end

        # @return [Integer, nil] the TCP port
        def port
          @address.ip_port if @address.ip?
        end

        private

        # An abstract address begins with a zero byte, written as "@".
        def path
          @address.unix_path.b.sub(/\A\0/n, "@").force_encoding(Encoding::UTF_8)
        end

        def same_file?(other)
          path.b.start_with?("/") && File.identical?(other, path)
        end

        def any?(other)
          @address.ip_address == (other.ipv4? && @address.ipv4? ? ANY_IPV4 : ANY_IPV6) && (other.ipv6? || ipv4?)
        end

        def v6_only?
          socket.getsockopt(Socket::IPPROTO_IPV6, Socket::IPV6_V6ONLY).bool
        end
      end
    end
  end
end
