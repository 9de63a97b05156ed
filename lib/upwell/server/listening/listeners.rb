# frozen_string_literal: true

require "socket"
require_relative "../../bind_address"
require_relative "handed_over_listening"
require_relative "inherited_listening"
require_relative "listener"
require_relative "unix_listening"

module Upwell
  class Server
    module Listening
      # Opens the listening sockets of a configuration.
      class Listeners
        include HandedOverListening
        include InheritedListening
        include UNIXListening

        MAX = 16 # per loop: UW_LISTENERS_MAX
        BACKLOG = 4096 # the kernel takes the smaller of this and net.core.somaxconn

        ANY_IPV6 = "::" # a socket for both families, unless IPv4 has the same port
        REUSE_PORT = [Socket::SOL_SOCKET, Socket::SO_REUSEPORT, true].freeze
        PORTS_ARE_SHARED_OUT = RUBY_PLATFORM.include?("linux") # on other systems the newest socket would get all clients

        # Opens the sockets of one process.
        #
        # @param configuration [Configuration]
        # @return [Array<Listener>] a set for each loop of the process, one set after another
        # @raise [ConfigurationError] when an address cannot be listened on
        def self.open_for(configuration)
          new(configuration, reuse_port: configuration.loops > 1).open_sets(configuration.loops).flatten(1)
        end

        # Removes the files of UNIX sockets.
        #
        # @param listeners [Array<Listener>]
        def self.remove(listeners)
          listeners.uniq(&:path).each(&:remove)
        end

        # Describes the addresses.
        #
        # @param listeners [Array<Listener>]
        # @return [String] for the log
        def self.describe(listeners)
          listeners.map(&:description).uniq.join(", ")
        end

        # Makes the kernel refuse clients, in all processes that share the sockets. TCP connections that wait in the accept queue are lost.
        #
        # @param listeners [Array<Listener>]
        def self.refuse(listeners)
          listeners.each(&:refuse)
        end

        # From now on another server owns the sockets.
        #
        # @param listeners [Array<Listener>]
        def self.lend(listeners)
          listeners.each { |listener| listener.lent = true }
        end

        # From now on this server owns the sockets.
        #
        # @param listeners [Array<Listener>]
        def self.own(listeners)
          listeners.each { |listener| listener.lent = false }
        end

        # Reloads certificates and keys.
        #
        # @param listeners [Array<Listener>]
        def self.renew(listeners)
          listeners.filter_map(&:credentials).uniq.each(&:renew)
        end

        # Identifies a file.
        #
        # @param path [String]
        # @return [Array<Integer>] a number that no other existing file has (device and inode)
        def self.file_number(path)
          status = File.lstat(path)
          [status.dev, status.ino]
        end

        # @param configuration [Configuration]
        # @param reuse_port [Boolean] whether each set has its own sockets (SO_REUSEPORT, see socket(7))
        def initialize(configuration, reuse_port: false)
          @port = configuration.port
          @inherited = configuration.inherited_sockets
          @handed_over = configuration.handed_over_sockets.dup
          @others = {}.compare_by_identity
          @binds = all_binds(configuration)
          @reuse_port = reuse_port && PORTS_ARE_SHARED_OUT
          @plan = TLS::SettingsByAddress.new(configuration, @binds)
          @credentials = Hash.new { |known, settings| known[settings] = TLS::Credentials.new(settings) }
        end

        # Reads certificates and keys.
        #
        # @raise [ConfigurationError] when a certificate or key is invalid
        def read_credentials
          @binds.each { |bind| credentials_for(bind) }
        end

        # Opens one set of sockets.
        #
        # @return [Array<Listener>]
        # @raise [ConfigurationError] when an address cannot be listened on
        def open
          read_credentials # before any socket exists
          listeners = @binds.flat_map { |bind| open_bind(bind, credentials_for(bind)) }.uniq(&:socket)
          refuse_many(listeners.size) if listeners.size > MAX
          refuse_unclaimed if @handed_over.any?

          listeners
        end

        # Opens several sets of sockets on the same addresses. The sets share UNIX sockets, inherited sockets, and all sockets without
        # `reuse_port`.
        #
        # @param count [Integer] of sets
        # @return [Array<Array<Listener>>] sets of one size
        # @raise [ConfigurationError] when an address cannot be listened on
        def open_sets(count)
          sets = open.map { |listener| shares(listener, count) }.transpose.map(&:flatten)
          refuse_many_of_each(sets.first.size) if sets.first.size > MAX

          sets
        end

        private

        def refuse_many(count)
          raise ConfigurationError, "the server can listen on at most #{MAX} addresses, not #{count}; remove some of -b"
        end

        def credentials_for(bind)
          settings = @plan.of(bind)
          settings && @credentials[settings]
        end

        def open_bind(bind, credentials)
          return open_unix(UNIXAddress.new(bind)) if UNIXAddress.match?(bind)

          listeners = open_tcp(bind)
          credentials ? listeners.each { |listener| secure(listener, credentials) } : listeners
        end

        def secure(listener, credentials)
          listener.credentials = credentials
          listener.url = listener.url.sub("http", "https")
        end

        # @return [Array<Array<Listener>>] the listeners of each set for one address
        def shares(listener, count)
          return Array.new(count) { [listener] } if listener.shared?

          known = claimed(listener)
          more = extensible?(known, count)
          all = known + (known.size...count).map { |index| more ? again(listener, index) : known[index % known.size] }
          rows = all.each_slice(count).to_a
          rows.push(rows.pop.cycle.first(count)).transpose
        end

        # If the port cannot be bound again, the sets share the socket: gVisor checks the option only at the first bind.
        def again(listener, index)
          address = listener.socket.local_address
          listen(address, v6_only: !address.ipv6? || v6_only?(listener.socket), reuse_port: true).tap do |other|
            other.index = index
            secure(other, listener.credentials) if listener.credentials
          end
        rescue Errno::EADDRINUSE
          listener
        end

        def v6_only?(socket)
          socket.getsockopt(Socket::IPPROTO_IPV6, Socket::IPV6_V6ONLY).bool
        end

        def open_tcp(bind)
          host, port = host_and_port(bind)
          hosts = addresses(host)
          listeners = hosts.flat_map do |address|
            found = inherited_tcp(wanted = Addrinfo.tcp(address, port))
            found = handed_over_tcp(wanted) if found.empty?
            found << open_address(wanted, v6_only: address != ANY_IPV6 || ipv4?(hosts) || ipv4_bound?(port)) if found.empty?
            port = found.first.socket.local_address.ip_port # all addresses get the same free port
            found
          rescue Errno::EADDRNOTAVAIL, Errno::EAFNOSUPPORT
            [] # the machine may lack IPv4 or IPv6
          end
          listeners.empty? ? raise(cannot(host, "this machine does not have the address; choose another with -b")) : listeners
        end

        # A second bind of such a port on [::], for both families, would fail.
        def ipv4_bound?(port)
          return false if port.zero? # each address gets its own free port
          return true if inherited_ipv4?(port)

          @binds.any? do |bind|
            next if UNIXAddress.match?(bind)

            host, other = host_and_port(bind)
            other == port && ipv4?(addresses(host))
          end
        end

        def host_and_port(bind)
          BindAddress.split(TLS::SSLAddress.match?(bind) ? TLS::SSLAddress.new(bind).bind : bind, @port)
        end

        def ipv4?(addresses)
          addresses.any? { |address| Addrinfo.ip(address).ipv4? }
        end

        def addresses(host)
          return BindAddress::LOCALHOST if host == BindAddress::LOCALHOST_NAME

          Addrinfo.getaddrinfo(host.empty? ? nil : host, 0, nil, :STREAM, nil, Socket::AI_PASSIVE).map(&:ip_address).uniq
        rescue SocketError => e
          raise cannot(host, "the host name cannot be resolved (#{e.message}); name an address of this machine with -b")
        end

        # The option is set last: with the option, a bind would join another server of the same user without an error.
        def open_address(address, v6_only:)
          listen(address, v6_only: v6_only).tap { |listener| listener.socket.setsockopt(*REUSE_PORT) if @reuse_port }
        rescue Errno::EADDRINUSE
          raise cannot(address.ip_address, "the port #{address.ip_port} is taken; stop the other server, or choose another port with -p or -b")
        rescue Errno::EACCES
          raise cannot(address.ip_address, "the port #{address.ip_port} needs privileges; choose a port above 1023 with -p or -b")
        end

        def listen(address, v6_only:, reuse_port: false)
          socket = tcp_socket(address, v6_only)
          socket.setsockopt(*REUSE_PORT) if reuse_port
          socket.bind(address)
          socket.listen(BACKLOG)
          Listener.new(socket, url(socket.local_address)).tap { |listener| listener.index = 0 }
        end

        def tcp_socket(address, v6_only)
          socket = Socket.new(address.afamily, Socket::SOCK_STREAM, 0)
          socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_REUSEADDR, true)
          socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, true) # accepted sockets inherit it
          socket.setsockopt(Socket::IPPROTO_IPV6, Socket::IPV6_V6ONLY, v6_only) if address.ipv6?
          socket
        end

        def cannot(host, reason)
          ConfigurationError.new("cannot listen on #{host.empty? ? "any address" : host}: #{reason}")
        end

        def url(address)
          host = address.ipv6? ? "[#{address.ip_address}]" : address.ip_address
          "http://#{host}:#{address.ip_port}"
        end
      end
    end
  end
end
