# frozen_string_literal: true

require "uri"

module Upwell
  # The query part of an address: `?NAME=VALUE&...`.
  module AddressParameters
    # Splits an address into its base and its parameters.
    #
    # @param text [String] an address without its prefix
    # @param names [Array<String>] the allowed parameters
    # @return [Array(String, Hash{String => String})] the text before the question mark, and the parameters
    # @raise [ArgumentError] for an unknown parameter
    def self.split(text, names)
      place, query = text.split("?", 2)
      parameters = URI.decode_www_form(query.to_s).to_h
      unknown = parameters.keys - names
      raise ArgumentError, "must have only #{names.join(", ")} after the question mark, not #{unknown.join(", ")}" if unknown.any?

      [place.to_s, parameters]
    end
  end
end
