# backtick_javascript: true
# frozen_string_literal: true

require "upwell/bind"
require "upwell/tls/plan"

module Upwell
  class Program < Command
    # Where to listen.
    #
    # @!attribute host [String, nil] nil: everywhere
    # @!attribute port [Integer, nil]
    # @!attribute path [String, nil] of a UNIX socket
    # @!attribute tls [Hash, nil] cert_file, key_file, ca_file and client_certificate ("optional", "required")
    # @!attribute shared [Boolean] whether other processes listen on the same port
    Address = Struct.new(:host, :port, :path, :tls, :shared) do
      # @param configuration [Configuration]
      # @param shared [Boolean]
      # @return [Array<Address>]
      # @raise [ConfigurationError]
      def self.of(configuration, shared:)
        plan = TLS::Plan.new(configuration)
        configuration.bind.flat_map do |bind|
          next new(nil, nil, File.expand_path(bind.delete_prefix(Bind::UNIX)), nil, shared) if bind.start_with?(Bind::UNIX)

          host, port = Bind.split(TLS::Address.match?(bind) ? TLS::Address.new(bind).bind : bind, configuration.port)
          hosts(host).map { |one| new(one, port, nil, files(plan.of(bind)), shared) }
        end
      end

      def self.hosts(host)
        return Bind::LOCALHOST if host == Bind::LOCALHOST_NAME

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

      # @return [String] for the operator
      def url
        return "#{Bind::UNIX}#{path}" if path

        name = host || "0.0.0.0"
        "#{tls ? "https" : "http"}://#{name.include?(":") ? "[#{name}]" : name}:#{port}"
      end

      # @param reason [String] the runtime's
      # @return [String] the sentence for it
      def cannot(reason)
        "cannot listen on #{path ? "#{Bind::UNIX}#{path}" : host || "any address"}: #{explanation(reason)}"
      end

      # @param reason [String]
      # @return [Boolean] a machine may have one of IPv4 and IPv6 alone
      def self.absent?(reason)
        %w[EADDRNOTAVAIL EAFNOSUPPORT].include?(reason)
      end

      private

      def explanation(reason)
        return "the address is not one of this machine's" if Address.absent?(reason)

        (path ? of_a_path : of_a_port).fetch(reason) { "#{reason}; choose another with -b" }
      end

      def of_a_path
        { "EADDRINUSE" => "another server listens there; stop it or choose another path",
          "EACCES" => "this user may not do so; choose another path with -b" }
      end

      def of_a_port
        { "EADDRINUSE" => "the port #{port} is taken; stop the other server or choose another with -p",
          "EACCES" => "the port #{port} needs privileges; choose one above 1023 with -p" }
      end
    end
  end
end
