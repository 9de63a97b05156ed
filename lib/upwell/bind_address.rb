# frozen_string_literal: true

require_relative "configuration"

module Upwell
  # Parses addresses: host, host:port, [v6]:port or unix:PATH.
  module BindAddress
    UNIX = "unix:"
    LOCALHOST_NAME = "localhost"
    LOCALHOST = %w[127.0.0.1 ::1].freeze # the meaning of localhost, independent of the resolver
    FORMS = [/\A\[(?<host>[^\]]+)\](?::(?<port>\d+))?\z/, /\A(?<host>[^:]*)(?::(?<port>\d+))?\z/].freeze

    # Splits a TCP address.
    #
    # @param text [String] an address
    # @param port [Integer] the default port
    # @return [Array(String, Integer)] host and port; any other text is a host name for the resolver
    # @raise [ConfigurationError] for an invalid address
    def self.split(text, port)
      match = FORMS.filter_map { |form| form.match(text) }.first
      return [text, port] unless match

      port = match[:port].to_i if match[:port]
      raise ConfigurationError, "bind #{text}: the port must be from 0 to 65535" unless Configuration::PORTS.cover?(port)

      [match[:host], port]
    end
  end
end
