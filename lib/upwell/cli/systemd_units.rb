# frozen_string_literal: true

require "etc"
require_relative "systemd_socket"

module Upwell
  class CLI
    # The units upwell.service and upwell.socket of an application.
    class SystemdUnits
      STOP_MARGIN = 10 # seconds that the service manager waits longer than the drain delay and the drain take

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

      # @param configuration [Configuration]
      # @param directory [String] the application's
      # @param command [Array<String>] that starts the server
      def initialize(configuration, directory, command)
        @configuration = configuration
        @directory = directory
        @command = command
      end

      # @return [Hash{String => String}] the units' texts by their file names
      # @raise [ConfigurationError] when the directory's owner has no name, or the socket unit cannot have the addresses
      def texts
        { "upwell.service" => service, "upwell.socket" => SystemdSocket.new(@configuration).text }
      end

      private

      # With the setting `user`, the server starts as root and becomes that user.
      def service
        stop = (@configuration.drain_delay + @configuration.drain_timeout).ceil + STOP_MARGIN
        text = @configuration.user ? SERVICE.sub(/^User=.*\n/, "") : SERVICE
        format(text, directory: escape(@directory), user: (owner unless @configuration.user), command: command, stop: stop)
      end

      def owner
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
    end
  end
end
