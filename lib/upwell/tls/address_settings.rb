# frozen_string_literal: true

module Upwell
  module TLS
    # A certificate with its files.
    #
    # @!attribute path [String] PEM, followed by its chain
    # @!attribute key [String, nil] PEM; nil: in the same file
    # @!attribute ocsp [String, nil] DER: the response to staple
    Certificate = Struct.new(:path, :key, :ocsp)

    # The TLS settings of one address.
    #
    # @!attribute certificates [Array<Certificate>] the first is for clients without a matching host name (SNI, RFC 6066)
    # @!attribute ca [String, nil] PEM, a file or a directory: the CAs of client certificates
    # @!attribute clients [Symbol] whether clients need a certificate: :unasked, :optional or :required
    AddressSettings = Struct.new(:certificates, :ca, :clients)
  end
end
