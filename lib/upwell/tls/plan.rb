# frozen_string_literal: true

require_relative "address"

module Upwell
  module TLS
    # Which addresses are served by TLS, and with what.
    class Plan
      # @param configuration [Configuration]
      # @raise [ConfigurationError] when what was said about certificates contradicts itself, or is of no use
      def initialize(configuration)
        @configuration = configuration
        @addresses = configuration.bind.filter_map { |bind| [bind, Address.new(bind)] if Address.match?(bind) }.to_h
        refuse_what_has_no_use
        refuse_what_lacks_another
      end

      # @param bind [String] an address that is configured
      # @return [Settings, nil] nil where HTTP is served as it is: a UNIX socket leads to a proxy of this machine
      # @raise [ConfigurationError] when there is no certificate
      def of(bind)
        address = @addresses[bind]
        return unless address || (@configuration.secure && !bind.start_with?("unix:"))

        certificates = address&.certificate ? [address.certificate] : certificates_for(bind)
        ca = address&.ca || @configuration.ca_file
        Settings.new(certificates, ca, clients(address&.clients, ca, bind))
      end

      private

      def certificates_for(bind)
        return [Certificate.new(self_signed)] if @configuration.self_signed

        own = @configuration.certificates
        own = [Certificate.new(@configuration.cert_file, @configuration.key_file), *own] if @configuration.cert_file
        own.empty? ? refuse("#{bind} is to be served by TLS, for which there is no certificate; #{HOW}") : own
      end

      def self_signed
        @self_signed ||= SelfSigned.new.ensure_file.tap { |path| tell_of(path) unless @configuration.quiet }
      end

      def tell_of(path)
        Log.announce("the certificate for development is #{path}; browsers believe it once you have them import it")
      end

      HOW = "name one with --cert-file FILE and --key-file FILE, or have one for development made with --self-signed"
      private_constant :HOW

      def clients(own, trusted, bind)
        return own || @configuration.client_certificate.to_sym if trusted
        return :unasked if own.nil? || own == :unasked

        refuse("#{bind} asks for clients' certificates; name with ca=FILE who signs them")
      end

      def refuse_what_has_no_use
        return if @configuration.secure || @addresses.any?

        name = %i[cert_file key_file ca_file self_signed].find { |candidate| @configuration.public_send(candidate) }
        name ||= :certificate if @configuration.certificates.any?
        refuse("#{name} has no use without TLS; add --secure, or bind to ssl://HOST:PORT") if name
      end

      def refuse_what_lacks_another
        refuse("key_file needs the certificate that belongs to the key; name it with --cert-file") if lacks?(:key_file, :cert_file)
        refuse("client_certificate is required, and nobody is trusted to sign it; name who is with --ca-file") if required_by_nobody?
        return unless @configuration.self_signed && (@configuration.cert_file || @configuration.certificates.any?)

        refuse("self_signed makes a certificate, and one was named; leave one of the two out")
      end

      def lacks?(name, other)
        @configuration.public_send(name) && !@configuration.public_send(other)
      end

      def required_by_nobody?
        @configuration.client_certificate == "required" && !@configuration.ca_file && @addresses.each_value.none?(&:ca)
      end

      def refuse(sentence)
        raise ConfigurationError, sentence
      end
    end
  end
end
