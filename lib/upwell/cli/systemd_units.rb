# frozen_string_literal: true

require "etc"

module Upwell
  class CLI
    # The units upwell.service and upwell.socket of an application.
    class SystemdUnits
      STOP_MARGIN = 10 # seconds that the service manager waits longer than the server drains

      # The hardening leaves io_uring, YJIT and the application's directory as they are: it has no SystemCallFilter=, no
      # MemoryDenyWriteExecute= and no ProtectHome=.
      SERVICE = <<~UNIT
        [Unit]
        Description=%<directory>s, served by Upwell
        Requires=upwell.socket
        After=network.target

        [Service]
        Type=notify
        User=%<user>s
        WorkingDirectory=%<directory>s
        Environment=RACK_ENV=production
        ExecStart=%<command>s
        ExecReload=/bin/kill -USR1 $MAINPID
        KillMode=mixed
        TimeoutStopSec=%<stop>d
        WatchdogSec=60
        Restart=on-failure
        LimitNOFILE=65536

        NoNewPrivileges=true
        LockPersonality=true
        PrivateDevices=true
        PrivateTmp=true
        ProtectControlGroups=true
        ProtectKernelModules=true
        ProtectKernelTunables=true
        ProtectSystem=full
        RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
        RestrictRealtime=true
        RestrictSUIDSGID=true

        [Install]
        WantedBy=multi-user.target
      UNIT

      SOCKET = <<~UNIT
        [Unit]
        Description=Sockets of upwell.service

        [Socket]
        %<addresses>s
        Backlog=4096

        [Install]
        WantedBy=sockets.target
      UNIT

      # @param configuration [Configuration]
      # @param directory [String] the application's
      # @param command [Array<String>] that starts the server
      def initialize(configuration, directory, command)
        @configuration = configuration
        @directory = directory
        @command = command
      end

      # @return [Hash{String => String}] the units' texts by their file names
      # @raise [ConfigurationError] when the directory's owner has no name, or an address cannot be resolved
      def texts
        stop = @configuration.drain_timeout.ceil + STOP_MARGIN
        service = format(SERVICE, directory: escape(@directory), user: user, command: command, stop: stop)
        { "upwell.service" => service, "upwell.socket" => format(SOCKET, addresses: addresses.map { |one| "ListenStream=#{one}" }.join("\n")) }
      end

      private

      def user
        Etc.getpwuid(File.stat(@directory).uid).name
      rescue ArgumentError
        raise ConfigurationError, "the owner of #{@directory} has no name; give the directory to a user of this machine"
      end

      def command
        words = @configuration.workers.zero? ? [*@command, "-w", "auto"] : @command
        words.map { |word| word.match?(/\s/) ? "\"#{escape(word)}\"" : escape(word) }.join(" ")
      end

      # A percent sign begins a specifier, see systemd.unit(5).
      def escape(text)
        text.gsub("%", "%%")
      end

      def addresses
        @configuration.bind.flat_map do |bind|
          next [escape(File.absolute_path(UNIXAddress.new(bind).path))] if UNIXAddress.match?(bind)

          host, port = BindAddress.split(TLS::SSLAddress.match?(bind) ? TLS::SSLAddress.new(bind).bind : bind, @configuration.port)
          hosts(host).map { |address| address.include?(":") ? "[#{address}]:#{port}" : "#{address}:#{port}" }
        end
      end

      def hosts(host)
        return BindAddress::LOCALHOST if host == BindAddress::LOCALHOST_NAME

        Addrinfo.getaddrinfo(host.empty? ? nil : host, 0, nil, :STREAM, nil, Socket::AI_PASSIVE).map(&:ip_address).uniq
      rescue SocketError => e
        raise ConfigurationError, "bind #{host}: #{e.message}; use an address of this machine"
      end
    end
  end
end
