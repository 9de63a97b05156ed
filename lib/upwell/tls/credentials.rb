# frozen_string_literal: true

require "digest"
require "securerandom"
require_relative "settings"

module Upwell
  module TLS
    # What an address is served with, read from its files: now, and again when they have changed. A supervisor has it before it forks, so its
    # workers share the secret of the tickets, and need not be able to read the keys.
    class Credentials
      SECRET_BYTES = 32 # UW_TLS_TICKET_SECRET_BYTES

      REMEDIES = {
        Errno::ENOSYS::Errno => "install that, and the gem again",
        Errno::EKEYEXPIRED::Errno => "have it renewed, or look at the clock",
        Errno::EBADMSG::Errno => "name a file that does, with --cert-file, --key-file or --ca-file",
        Errno::ENODATA::Errno => "have who signed it answer again, or leave out ocsp",
        Errno::EINVAL::Errno => "name those that belong together, with --cert-file and --key-file",
        Errno::EACCES::Errno => "let this user read it"
      }.freeze
      private_constant :REMEDIES

      # @return [TLSContext] what was read last
      attr_reader :context

      # @param settings [Settings]
      # @raise [ConfigurationError] when a file is not what it should be
      def initialize(settings)
        @settings = settings
        @secret = SecureRandom.bytes(SECRET_BYTES)
        @since = Time.now.to_i
        read
      end

      # Reads the files again. What is wrong with them is logged, and what was read before is left in use.
      #
      # @return [Boolean]
      def renew
        read
        true
      rescue ConfigurationError => e
        Log.tell("the certificates in use are kept: #{e.message}")
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

      # Whom others have vouched for must not come back with a ticket once they are not trusted any more.
      def ticket_secret
        Digest::SHA256.digest([@secret, @settings.clients, *trusted].join("\0"))
      end

      # Of what cannot be read the context tells.
      def trusted
        files = File.directory?(@settings.ca.to_s) ? Dir.glob(File.join(@settings.ca, "*")) : [@settings.ca].compact
        files.select { |file| File.file?(file) }.map { |file| File.binread(file) }
      rescue SystemCallError
        []
      end
    end
  end
end
