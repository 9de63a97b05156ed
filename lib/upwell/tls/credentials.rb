# frozen_string_literal: true

require "digest"
require "securerandom"
require_relative "address_settings"

module Upwell
  module TLS
    # The TLS credentials of an address. They are read from files at the start and after a change. The supervisor reads them before it forks, so
    # its workers share the ticket secret and need no access to the keys.
    class Credentials
      SECRET_BYTES = 32 # UW_TLS_TICKET_SECRET_BYTES

      REMEDIES = {
        Errno::ENOSYS::Errno => "install OpenSSL 3 (Debian: apt-get install libssl-dev), then reinstall the gem without UPWELL_TLS=no",
        Errno::ELIBACC::Errno => "install it",
        Errno::EKEYEXPIRED::Errno => "renew it, or check the clock",
        Errno::EBADMSG::Errno => "name a valid PEM file with --cert-file, --key-file or --ca-file",
        Errno::ENODATA::Errno => "get a new OCSP response (and certificate, if that is revoked), or remove ocsp: from the configuration file",
        Errno::ENOLINK::Errno => "append it to that file, or remove ocsp: from the configuration file",
        Errno::EINVAL::Errno => "name another certificate and its key, with --cert-file and --key-file",
        Errno::EACCES::Errno => "make it readable for this user",
        Errno::ENOMEM::Errno => "free memory",
        Errno::ENOTSUP::Errno => "install a complete OpenSSL 3"
      }.freeze
      private_constant :REMEDIES

      # @return [TLSContext] the current context
      attr_reader :context

      # @param settings [AddressSettings]
      # @raise [ConfigurationError] when a file is invalid
      def initialize(settings)
        @settings = settings
        @secret = SecureRandom.bytes(SECRET_BYTES)
        @since = Time.now.to_i
        read
      end

      # Reads the files again. An error is logged, and the old credentials remain in use.
      #
      # @return [Boolean]
      def renew
        read
        true
      rescue ConfigurationError => e
        Log.tell("the server keeps the old certificates, because the new ones cannot be used: #{e.message}; then send SIGHUP")
        false
      end

      # @return [String] without the secret
      def inspect
        "#<#{self.class} #{@settings.certificates.map(&:path).join(", ")}>"
      end

      private

      def read
        @context = TLSContext.new(certificates: @settings.certificates.map(&:to_a), ca: @settings.ca, clients: @settings.clients,
                                  ticket_secret: ticket_secret, ticket_secret_since: @since)
        Log.tell(@context.warning) if @context.warning
      rescue CertificateError => e
        raise ConfigurationError, "#{e.message}; #{REMEDIES.fetch(e.errno, "name another with --cert-file, --key-file or --ca-file")}"
      end

      # The secret depends on the trusted CAs: a client whose CA is no longer trusted must not resume a session with its ticket.
      def ticket_secret
        Digest::SHA256.digest([@secret, @settings.clients, *trusted].join("\0"))
      end

      # If a file cannot be read, the context reports the error.
      def trusted
        files = File.directory?(@settings.ca.to_s) ? Dir.glob(File.join(@settings.ca, "*")) : [@settings.ca].compact
        files.select { |file| File.file?(file) }.map { |file| File.binread(file) }
      rescue SystemCallError
        []
      end
    end
  end
end
