# frozen_string_literal: true

require_relative "ssl_address"

module Upwell
  module TLS
    # Assigns TLS settings to addresses.
    class SettingsByAddress
      # @param configuration [Configuration]
      # @param binds [Array<String>] all addresses
      # @raise [ConfigurationError] when TLS settings contradict each other, or have no effect
      def initialize(configuration, binds = configuration.bind)
        @configuration = configuration
        @binds = binds
        @addresses = binds.filter_map { |bind| [bind, SSLAddress.new(bind)] if SSLAddress.match?(bind) }.to_h
        refuse_what_has_no_use
        refuse_what_lacks_another
      end

      # Finds the TLS settings of an address.
      #
      # @param bind [String] a configured address
      # @return [AddressSettings, nil] nil for plain HTTP: a UNIX socket belongs to a proxy on this machine
      # @raise [ConfigurationError] when there is no certificate
      def of(bind)
        address = @addresses[bind]
        return unless address || (@configuration.secure && !bind.start_with?("unix:"))

        certificates = address&.certificate ? [address.certificate] : certificates_for(bind)
        ca = address&.ca || @configuration.ca_file
        AddressSettings.new(certificates, ca, clients(address&.clients, ca, bind))
      end

      private

      def certificates_for(bind)
        return [Certificate.new(self_signed)] if @configuration.self_signed

        own = @configuration.certificates
        own = [Certificate.new(@configuration.cert_file, @configuration.key_file), *own] if @configuration.cert_file
        own.empty? ? refuse("#{bind} needs a certificate for TLS; #{HOW}") : own
      end

      def self_signed
        @self_signed ||= SelfSigned.new.ensure_file.tap { |path| tell_of(path) unless @configuration.quiet }
      end

      def tell_of(path)
        Log.announce("the development certificate is #{path}; import it into your browser to trust it")
      end

      CREATE = RUBY_ENGINE == "opal" ? "" : ", or create one for development with --self-signed" # only the C core has this option
      HOW = "name one with --cert-file FILE and --key-file FILE#{CREATE}".freeze
      NO_TCP = "secure has no effect without a TCP address, because UNIX sockets do not use TLS; remove it, or also bind to HOST:PORT"
      private_constant :CREATE, :HOW, :NO_TCP

      def clients(own, trusted, bind)
        return own || @configuration.client_certificate.to_sym if trusted
        return :unasked if own.nil? || own == :unasked

        refuse("#{bind} requests client certificates, but no CA verifies them; name the CA with ca=FILE")
      end

      def refuse_what_has_no_use
        refuse(NO_TCP) if @configuration.secure && @binds.all? { |bind| bind.start_with?("unix:") }
        return if @configuration.secure || @addresses.any?

        name = %i[cert_file key_file ca_file self_signed].find { |candidate| @configuration.public_send(candidate) }
        name ||= :certificate if @configuration.certificates.any?
        refuse("#{name} has no effect without TLS; add --secure, or bind to ssl://HOST:PORT") if name
      end

      def refuse_what_lacks_another
        refuse("key_file needs the certificate of this key; name it with --cert-file") if lacks?(:key_file, :cert_file)
        refuse("client_certificate is required, but no CA verifies it; name the CA with --ca-file") if required_by_nobody?
        return unless @configuration.self_signed && (@configuration.cert_file || @configuration.certificates.any?)

        refuse("self_signed creates a certificate, but another certificate is configured; remove one of the two")
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
