# frozen_string_literal: true

module Upwell
  module TLS
    # A certificate, and what belongs to it.
    #
    # @!attribute path [String] PEM, with its chain behind it
    # @!attribute key [String, nil] PEM; nil: in the same file
    # @!attribute ocsp [String, nil] DER: the response to be stapled
    Certificate = Struct.new(:path, :key, :ocsp)

    # What the clients of one address find.
    #
    # @!attribute certificates [Array<Certificate>] the first is for those that name no other's host (SNI)
    # @!attribute ca [String, nil] PEM, a file or a folder: who signs clients' certificates
    # @!attribute clients [Symbol] whether these have to have one: :unasked, :optional or :required
    Settings = Struct.new(:certificates, :ca, :clients)
  end
end
