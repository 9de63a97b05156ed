# backtick_javascript: true
# frozen_string_literal: true

require "upwell/bind_address"
require "upwell/js_error"
require "upwell/tls/settings_by_address"

module Upwell
  class Program < Command
    UNKNOWN_NAME = %w[ENOTFOUND EAI_AGAIN].freeze # codes of a failed name resolution

    # An address to listen on.
    #
    # @!attribute host [String, nil] nil: all interfaces
    # @!attribute port [Integer, nil]
    # @!attribute path [String, nil] of a UNIX socket
    # @!attribute tls [Hash, nil] cert_file, key_file, ca_file and client_certificate ("optional", "required")
    # @!attribute shared [Boolean] whether other processes listen on the same port
    ListenAddress = Struct.new(:host, :port, :path, :tls, :shared) do
      # Parses the addresses of a configuration.
      #
      # @param configuration [Configuration]
      # @param shared [Boolean]
      # @return [Array<ListenAddress>]
      # @raise [ConfigurationError]
      def self.of(configuration, shared:)
        plan = TLS::SettingsByAddress.new(configuration)
        configuration.bind.flat_map do |bind|
          next new(nil, nil, File.expand_path(bind.delete_prefix(BindAddress::UNIX)), nil, shared) if bind.start_with?(BindAddress::UNIX)

          host, port = BindAddress.split(TLS::SSLAddress.match?(bind) ? TLS::SSLAddress.new(bind).bind : bind, configuration.port)
          hosts(host).map { |one| new(one, port, nil, files(plan.of(bind)), shared) }
        end
      end

      def self.hosts(host)
        return BindAddress::LOCALHOST if host == BindAddress::LOCALHOST_NAME

        [host.empty? ? nil : host]
      end
      private_class_method :hosts

      def self.files(settings)
        return unless settings

        certificate = settings.certificates.first
        { cert_file: certificate.path, key_file: certificate.key || certificate.path, ca_file: settings.ca,
          client_certificate: settings.ca && settings.clients.to_s }
      end
      private_class_method :files

      # @return [String] the URL, for the log
      def url
        return "#{BindAddress::UNIX}#{path}" if path

        name = host || "0.0.0.0"
        "#{tls ? "https" : "http"}://#{name.include?(":") ? "[#{name}]" : name}:#{port}"
      end

      # Builds the error message for a failed listen.
      #
      # @param reason [String] the runtime's reason
      # @return [String] the error message
      def cannot(reason)
        "cannot listen on #{path ? "#{BindAddress::UNIX}#{path}" : host || "any address"}: #{explanation(reason)}"
      end

      # @param reason [String]
      # @return [Boolean] whether the address family is missing: a machine may lack IPv4 or IPv6
      def self.absent?(reason)
        %w[EADDRNOTAVAIL EAFNOSUPPORT].include?(reason)
      end

      private

      def explanation(reason)
        return "this machine does not have the address; choose another with -b" if ListenAddress.absent?(reason)
        return "the host name cannot be resolved (#{reason}); name an address of this machine with -b" if UNKNOWN_NAME.include?(reason)

        sentences = path ? of_a_path : of_a_port
        sentences.fetch(reason) { "#{JsError.words(reason) || reason}; choose another #{path ? "path" : "address"} with -b" }
      end

      def of_a_path
        { "EADDRINUSE" => "another server listens there; stop it, or choose another path with -b" }
      end

      def of_a_port
        { "EADDRINUSE" => "the port #{port} is taken; stop the other server, or choose another port with -p or -b",
          "EACCES" => "the port #{port} needs privileges; choose a port above 1023 with -p or -b" }
      end
    end
  end
end
