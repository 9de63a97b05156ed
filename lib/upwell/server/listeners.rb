# frozen_string_literal: true

require "socket"

module Upwell
  class Server
    # Opens the listening sockets that a configuration names.
    class Listeners
      BACKLOG = 4096 # the kernel takes the smaller of this and net.core.somaxconn

      # A socket and how to tell where it listens.
      Listener = Struct.new(:socket, :url)

      # @param configuration [Configuration]
      # @param reuse_port [Boolean] several sockets may listen on one port (SO_REUSEPORT, see man 7 socket)
      def initialize(configuration, reuse_port: false)
        @port = configuration.port
        @binds = configuration.bind
        @reuse_port = reuse_port
      end

      # @return [Array<Listener>]
      # @raise [ConfigurationError] when an address cannot be listened on
      def open
        @binds.flat_map { |bind| bind.start_with?("unix:") ? [open_unix(bind.delete_prefix("unix:"))] : open_tcp(bind) }
      end

      private

      def open_tcp(bind)
        host, port = split(bind)
        addresses = resolve(host, port)
        addresses.filter_map do |address|
          listener = listen(address, port)
          port = listener.socket.local_address.ip_port # a free port, once found, is the same for every address
          listener
        rescue Errno::EADDRNOTAVAIL, Errno::EAFNOSUPPORT
          raise cannot(address, "the address is not one of this machine's") if addresses.size == 1
        end
      end

      def split(bind)
        match = bind.match(/\A\[(?<host>[^\]]+)\](?::(?<port>\d+))?\z/) ||
                bind.match(/\A(?<host>[^:]*)(?::(?<port>\d+))?\z/) ||
                bind.match(/\A(?<host>.*)\z/m)
        port = match.names.include?("port") && match[:port] ? match[:port].to_i : @port
        raise ConfigurationError, "bind #{bind}: the port must be from 0 to 65535" unless Configuration::PORTS.cover?(port)

        [match[:host], port]
      end

      # localhost is both loopback addresses, where the machine has both.
      def resolve(host, port)
        Addrinfo.getaddrinfo(host.empty? ? nil : host, port, nil, :STREAM, nil, Socket::AI_PASSIVE).uniq(&:ip_address)
      rescue SocketError => e
        raise ConfigurationError, "cannot listen on #{host}: #{e.message}; use an address of this machine"
      end

      def listen(address, port)
        socket = tcp_socket(address)
        socket.bind(Addrinfo.tcp(address.ip_address, port))
        socket.listen(BACKLOG)
        Listener.new(socket, url(socket.local_address))
      rescue Errno::EADDRINUSE
        raise cannot(address, "the port #{port} is taken; stop the other server or choose another with -p")
      rescue Errno::EACCES
        raise cannot(address, "the port #{port} needs privileges; choose one above 1023 with -p")
      end

      def tcp_socket(address)
        socket = Socket.new(address.afamily, Socket::SOCK_STREAM, 0)
        socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_REUSEADDR, true)
        socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_REUSEPORT, true) if @reuse_port
        socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, true) # accepted sockets inherit it
        socket.setsockopt(Socket::IPPROTO_IPV6, Socket::IPV6_V6ONLY, true) if address.ipv6?
        socket
      end

      def cannot(address, reason)
        ConfigurationError.new("cannot listen on #{address.ip_address}: #{reason}")
      end

      def url(address)
        host = address.ipv6? ? "[#{address.ip_address}]" : address.ip_address
        "http://#{host}:#{address.ip_port}"
      end

      def open_unix(path)
        remove_stale(path)
        server = UNIXServer.new(path)
        server.listen(BACKLOG)
        Listener.new(server, "unix:#{path}")
      rescue SystemCallError => e
        raise ConfigurationError, "cannot listen on unix:#{path}: #{e.message}"
      end

      # A socket left behind by a server that was killed is replaced; one that somebody listens on is not.
      def remove_stale(path)
        return unless File.socket?(path)

        UNIXSocket.new(path).close
        raise ConfigurationError, "cannot listen on unix:#{path}: another server listens there; stop it or choose another path"
      rescue Errno::ECONNREFUSED
        File.unlink(path)
      end
    end
  end
end
