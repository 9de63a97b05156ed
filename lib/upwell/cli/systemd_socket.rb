# frozen_string_literal: true

require "etc"
require "socket"

module Upwell
  class CLI
    # The unit upwell.socket of an application.
    class SystemdSocket
      UNIT = <<~UNIT
        [Unit]
        Description=Sockets of upwell.service

        [Socket]
        %<settings>s
        Backlog=4096

        [Install]
        WantedBy=sockets.target
      UNIT

      ANY_IPV4 = "0.0.0.0"
      ANY_IPV6 = "::"
      IPV6_ONLY = "BindIPv6Only=ipv6-only" # a socket for both families would take the IPv4 port

      # @param configuration [Configuration]
      def initialize(configuration)
        @configuration = configuration
      end

      # @return [String] the unit
      # @raise [ConfigurationError] when the unit cannot have these addresses
      def text
        format(UNIT, settings: [*streams, *(IPV6_ONLY if divided?), *permissions].join("\n"))
      end

      private

      def streams
        [*unix.map { |address| File.absolute_path(address.path) }, *tcp.map { |address| host_and_port(address) }].uniq
          .map { |stream| "ListenStream=#{escape(stream)}" }
      end

      # A percent sign begins a specifier, see systemd.unit(5).
      def escape(text)
        text.gsub("%", "%%")
      end

      def host_and_port(address)
        address.ipv6? ? "[#{address.ip_address}]:#{address.ip_port}" : "#{address.ip_address}:#{address.ip_port}"
      end

      def unix
        @configuration.bind.filter_map { |bind| UNIXAddress.new(bind) if UNIXAddress.match?(bind) }
      end

      # The unit has one mode, one user and one group for all its UNIX sockets.
      def permissions
        all = unix.map { |address| permissions_of(address) }.uniq
        return [*all.first] if all.size < 2

        raise ConfigurationError, "bind: the UNIX sockets of one unit must have the same mode, user and group; give all the same ones"
      end

      def permissions_of(address)
        [*(format("SocketMode=%04o", address.mode) if address.mode),
         *("SocketUser=#{Etc.getpwuid(address.user).name}" if address.user),
         *("SocketGroup=#{Etc.getgrgid(address.group).name}" if address.group)]
      rescue ArgumentError
        raise ConfigurationError, "bind unix:#{address.path}: its user and its group must have names on this machine; correct the address"
      end

      # Two sockets of the unit cannot have one port of one address.
      def tcp
        @tcp ||= begin
          all = @configuration.bind.flat_map { |bind| UNIXAddress.match?(bind) ? [] : addresses(bind) }
          all += counterparts(all) if divided?(all)
          all.uniq(&:to_sockaddr).reject { |address| covered?(address, all) }
        end
      end

      def divided?(all = tcp)
        all.any? { |address| any?(address) && address.ipv6? && ipv4_port?(all, address.ip_port) }
      end

      # With BindIPv6Only= no IPv6 socket has IPv4 clients.
      def counterparts(all)
        all.select { |address| any?(address) && address.ipv6? && !ipv4_port?(all, address.ip_port) }
          .map { |address| Addrinfo.tcp(ANY_IPV4, address.ip_port) }
      end

      def ipv4_port?(all, port)
        all.any? { |address| address.ipv4? && address.ip_port == port }
      end

      def covered?(address, all)
        !any?(address) && all.any? { |other| any?(other) && other.afamily == address.afamily && other.ip_port == address.ip_port }
      end

      def any?(address)
        [ANY_IPV4, ANY_IPV6].include?(address.ip_address)
      end

      def addresses(bind)
        host, port = BindAddress.split(TLS::SSLAddress.match?(bind) ? TLS::SSLAddress.new(bind).bind : bind, @configuration.port)
        found = hosts(host).map { |address| Addrinfo.tcp(address, port) }.select { |address| of_this_machine?(address) }
        found.empty? ? raise(ConfigurationError, "bind #{host}: this machine does not have the address; choose another one") : found
      end

      def hosts(host)
        return BindAddress::LOCALHOST if host == BindAddress::LOCALHOST_NAME

        Addrinfo.getaddrinfo(host.empty? ? nil : host, 0, nil, :STREAM, nil, Socket::AI_PASSIVE).map(&:ip_address)
      rescue SocketError => e
        raise ConfigurationError, "bind #{host}: #{e.message}; use an address of this machine"
      end

      # The machine may lack IPv4 or IPv6.
      def of_this_machine?(address)
        Addrinfo.tcp(address.ip_address, 0).bind(&:local_address)
        true
      rescue Errno::EADDRNOTAVAIL, Errno::EAFNOSUPPORT
        false
      end
    end
  end
end
