# frozen_string_literal: true

require_relative "../address_parameters"
require_relative "address_settings"

module Upwell
  module TLS
    # A TLS address in Puma's format: `ssl://HOST:PORT?cert=FILE&key=FILE&ca=FILE&verify_mode=peer`. The settings are its defaults.
    class SSLAddress
      SCHEME = "ssl://"
      NAMES = %w[cert key ca verify_mode].freeze
      CLIENTS = { "none" => :unasked, "peer" => :optional, "force_peer" => :required }.freeze

      # @return [String] host and port
      attr_reader :bind
      # @return [Certificate, nil]
      attr_reader :certificate
      # @return [String, nil]
      attr_reader :ca
      # @return [Symbol, nil]
      attr_reader :clients

      # @param text [String]
      def self.match?(text)
        text.start_with?(SCHEME)
      end

      # @param text [String]
      # @raise [ArgumentError] for an invalid address
      def initialize(text)
        @bind, parameters = AddressParameters.split(text.delete_prefix(SCHEME), NAMES)
        raise ArgumentError, "must name a host after #{SCHEME}" if @bind.empty?

        read(*parameters.values_at(*NAMES))
      end

      private

      def read(cert, key, authorities, mode)
        raise ArgumentError, "must also name the certificate of the key: cert=FILE" if key && !cert

        @certificate = Certificate.new(File.expand_path(cert), key && File.expand_path(key)) if cert
        @ca = authorities && File.expand_path(authorities)
        @clients = mode && CLIENTS.fetch(mode) { raise ArgumentError, "must have as verify_mode one of #{CLIENTS.keys.join(", ")}" }
      end
    end
  end
end
