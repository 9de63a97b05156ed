# frozen_string_literal: true

require "socket"
require_relative "../bind"

module Upwell
  class Server
    # Opens the listening sockets that a configuration names.
    class Listeners
      MAX = 16 # of one loop: UW_LISTENERS_MAX
      BACKLOG = 4096 # the kernel takes the smaller of this and net.core.somaxconn

      REUSE_PORT = [Socket::SOL_SOCKET, Socket::SO_REUSEPORT, true].freeze
      PORTS_ARE_SHARED_OUT = RUBY_PLATFORM.include?("linux") # elsewhere the socket that came last would get all

      # A socket and how to tell where it listens.
      # A UNIX socket has a file: a path, wherever the application goes, and a number, which no other gets as long as the socket is open.
      # One that is served by TLS has credentials, which it shares with others of the same settings.
      Listener = Struct.new(:socket, :url, :path, :file_number, :credentials) do
        # @return [TLSContext, nil]
        def context
          credentials&.context
        end

        # Takes a UNIX socket out of the file system, unless another server has put its own there.
        def remove
          File.unlink(path) if path && Listeners.file_number(path) == file_number
        rescue SystemCallError
          nil
        end

        # Has the kernel refuse clients, for all processes that have the socket.
        def refuse
          socket.shutdown(Socket::SHUT_RD)
        rescue SystemCallError
          nil # refused already
        end
      end

      # @param configuration [Configuration]
      # @return [Array<Listener>] for one process: a set for each of its loops, one after another
      # @raise [ConfigurationError] when an address cannot be listened on
      def self.open_for(configuration)
        new(configuration, reuse_port: configuration.loops > 1).open_sets(configuration.loops).flatten(1)
      end

      # Takes the UNIX sockets out of the file system.
      #
      # @param listeners [Array<Listener>]
      def self.remove(listeners)
        listeners.uniq(&:path).each(&:remove)
      end

      # Has the kernel refuse clients, for all processes that have the sockets. Who is connected by TCP and not accepted is lost.
      #
      # @param listeners [Array<Listener>]
      def self.refuse(listeners)
        listeners.each(&:refuse)
      end

      # Reads certificates and keys again.
      #
      # @param listeners [Array<Listener>]
      def self.renew(listeners)
        listeners.filter_map(&:credentials).uniq.each(&:renew)
      end

      # @param path [String]
      # @return [Array<Integer>] what tells a file from any other that there is
      def self.file_number(path)
        status = File.lstat(path)
        [status.dev, status.ino]
      end

      # @param configuration [Configuration]
      # @param reuse_port [Boolean] each set gets sockets of its own (SO_REUSEPORT, see man 7 socket)
      def initialize(configuration, reuse_port: false)
        @port = configuration.port
        @binds = configuration.bind
        @reuse_port = reuse_port && PORTS_ARE_SHARED_OUT
        @plan = TLS::Plan.new(configuration)
        @credentials = Hash.new { |known, settings| known[settings] = TLS::Credentials.new(settings) }
      end

      # Reads certificates and keys.
      #
      # @raise [ConfigurationError] when one is not what it should be
      def read_credentials
        @binds.each { |bind| credentials_for(bind) }
      end

      # @return [Array<Listener>]
      # @raise [ConfigurationError] when an address cannot be listened on
      def open
        read_credentials # before there is a socket
        listeners = @binds.flat_map { |bind| open_bind(bind, credentials_for(bind)) }
        raise ConfigurationError, "one can listen on at most #{MAX} addresses, not #{listeners.size}" if listeners.size > MAX

        listeners
      end

      # @param count [Integer]
      # @return [Array<Array<Listener>>] so many sets of sockets on the same addresses; without `reuse_port`, and for UNIX, the same sockets
      # @raise [ConfigurationError] when an address cannot be listened on
      def open_sets(count)
        first = open
        [first, *Array.new(count - 1) { first.map { |listener| again(listener) } }]
      end

      private

      def credentials_for(bind)
        settings = @plan.of(bind)
        settings && @credentials[settings]
      end

      def open_bind(bind, credentials)
        return [open_unix(bind.delete_prefix(Bind::UNIX))] if bind.start_with?(Bind::UNIX)

        listeners = open_tcp(TLS::Address.match?(bind) ? TLS::Address.new(bind).bind : bind)
        credentials ? listeners.each { |listener| secure(listener, credentials) } : listeners
      end

      def secure(listener, credentials)
        listener.credentials = credentials
        listener.url = listener.url.sub("http", "https")
      end

      # Where the port cannot be shared, the socket is: gVisor counts the option at the first bind alone.
      def again(listener)
        return listener if listener.path || !@reuse_port

        listen(listener.socket.local_address, reuse_port: true).tap do |other|
          secure(other, listener.credentials) if listener.credentials
        end
      rescue Errno::EADDRINUSE
        listener
      end

      def open_tcp(bind)
        host, port = Bind.split(bind, @port)
        listeners = addresses(host).filter_map do |address|
          listener = open_address(Addrinfo.tcp(address, port))
          port = listener.socket.local_address.ip_port # a free port, once found, is the same for every address
          listener
        rescue Errno::EADDRNOTAVAIL, Errno::EAFNOSUPPORT
          nil # a machine may have one of IPv4 and IPv6 alone
        end
        listeners.empty? ? raise(cannot(host, "the address is not one of this machine's")) : listeners
      end

      def addresses(host)
        return Bind::LOCALHOST if host == Bind::LOCALHOST_NAME

        Addrinfo.getaddrinfo(host.empty? ? nil : host, nil, nil, :STREAM, nil, Socket::AI_PASSIVE).map(&:ip_address).uniq
      rescue SocketError => e
        raise cannot(host, "#{e.message}; use an address of this machine")
      end

      # The option comes last: with it, a bind joins another server of the same user in silence.
      def open_address(address)
        listen(address).tap { |listener| listener.socket.setsockopt(*REUSE_PORT) if @reuse_port }
      rescue Errno::EADDRINUSE
        raise cannot(address.ip_address, "the port #{address.ip_port} is taken; stop the other server or choose another with -p")
      rescue Errno::EACCES
        raise cannot(address.ip_address, "the port #{address.ip_port} needs privileges; choose one above 1023 with -p")
      end

      def listen(address, reuse_port: false)
        socket = tcp_socket(address)
        socket.setsockopt(*REUSE_PORT) if reuse_port
        socket.bind(address)
        socket.listen(BACKLOG)
        Listener.new(socket, url(socket.local_address))
      end

      def tcp_socket(address)
        socket = Socket.new(address.afamily, Socket::SOCK_STREAM, 0)
        socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_REUSEADDR, true)
        socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, true) # accepted sockets inherit it
        socket.setsockopt(Socket::IPPROTO_IPV6, Socket::IPV6_V6ONLY, true) if address.ipv6?
        socket
      end

      def cannot(host, reason)
        ConfigurationError.new("cannot listen on #{host}: #{reason}")
      end

      def url(address)
        host = address.ipv6? ? "[#{address.ip_address}]" : address.ip_address
        "http://#{host}:#{address.ip_port}"
      end

      def open_unix(path)
        remove_stale(path)
        server = UNIXServer.new(path)
        server.listen(BACKLOG)
        Listener.new(server, "#{Bind::UNIX}#{path}", File.absolute_path(path), Listeners.file_number(path))
      rescue SystemCallError, ArgumentError => e # the latter for a path that is too long
        reason = e.is_a?(ArgumentError) ? e.message : Reason.of(e)
        raise ConfigurationError, "cannot listen on unix:#{path}: #{reason}; choose another path with -b"
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
