# frozen_string_literal: true

module Upwell
  class Configuration
    # Reads and checks the addresses to listen on, and the user that the process becomes.
    module Addresses
      OCTET = /25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d/
      CONTROL_ADDRESS = /\A(?:127(?:\.(?:#{OCTET})){3}|\[::1\]|localhost):(?<port>\d{1,5})\z/ # anyone who connects may read the metrics
      ADDRESS = %r{\A(?:unix:.+|(?!unix:)(?!(?!ssl)\w+://).+)\z} # the resolver decides about host names

      # @return [Metrics, nil] the metrics of all processes, with a control address; {Server::Listening::ControlListener} creates them
      attr_accessor :metrics
      # @return [Array<Server::Listening::InheritedSocket>] listening sockets of the service manager; the command takes them
      attr_writer :inherited_sockets

      # @see #inherited_sockets=
      def inherited_sockets
        @inherited_sockets || []
      end

      # @return [Array<Server::Listening::InheritedSocket>] listening sockets of the running server that this one replaces
      attr_writer :handed_over_sockets

      # @see #handed_over_sockets=
      def handed_over_sockets
        @handed_over_sockets || []
      end

      # @return [Boolean] whether a caller, the command line or the configuration file sets `bind`
      def bind_given?
        @given.include?(:bind)
      end

      private

      def read_binds(value)
        addresses = Array(value).map(&:to_s)
        addresses.each { |address| check_address(address) }
        return addresses if addresses.any? && addresses.all? { |address| ADDRESS.match?(address) }

        raise ArgumentError, "must be host, host:port, [v6]:port, ssl://host:port or unix:PATH"
      end

      def read_control(value)
        text = value&.to_s
        return text if text.nil? || (UNIXAddress.match?(text) && UNIXAddress.new(text))
        return text if PORTS.cover?(text[CONTROL_ADDRESS, :port]&.to_i)

        raise ArgumentError, "must be unix:PATH or a loopback address with a port, such as 127.0.0.1:9394"
      end

      def read_user(value)
        value && UsersAndGroups.user(value.to_s) && value.to_s
      end

      def read_group(value)
        value && UsersAndGroups.group(value.to_s) && value.to_s
      end

      def check_address(address)
        TLS::SSLAddress.new(address) if TLS::SSLAddress.match?(address)
        UNIXAddress.new(address) if ADDRESS.match?(address) && UNIXAddress.match?(address)
      end
    end
  end
end
