# frozen_string_literal: true

require "uri"
require_relative "settings"

module Upwell
  module TLS
    # An address that is served by TLS, as Puma writes it: `ssl://HOST:PORT?cert=FILE&key=FILE&ca=FILE&verify_mode=peer`. What it does not
    # say is as for all addresses.
    class Address
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
      # @raise [ArgumentError]
      def initialize(text)
        @bind, query = text.delete_prefix(SCHEME).split("?", 2)
        raise ArgumentError, "must name a host after #{SCHEME}" if @bind.to_s.empty?

        read(URI.decode_www_form(query.to_s).to_h)
      end

      private

      def read(query)
        unknown = query.keys - NAMES
        raise ArgumentError, "must have no #{unknown.join(", ")} after the question mark, but #{NAMES.join(", ")}" if unknown.any?

        cert, key, ca, mode = query.values_at(*NAMES)
        raise ArgumentError, "must name the certificate, too, that belongs to the key: cert=FILE" if key && !cert

        @certificate = Certificate.new(File.expand_path(cert), key && File.expand_path(key)) if cert
        @ca = ca && File.expand_path(ca)
        @clients = mode && CLIENTS.fetch(mode) { raise ArgumentError, "must have a verify_mode of #{CLIENTS.keys.join(", ")}" }
      end
    end
  end
end
