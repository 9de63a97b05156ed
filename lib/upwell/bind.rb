# frozen_string_literal: true

require_relative "configuration"

module Upwell
  # How an address is written: host, host:port, [v6]:port or unix:PATH.
  module Bind
    UNIX = "unix:"
    LOCALHOST_NAME = "localhost"
    LOCALHOST = %w[127.0.0.1 ::1].freeze # what it means, whatever the resolver says
    FORMS = [/\A\[(?<host>[^\]]+)\](?::(?<port>\d+))?\z/, /\A(?<host>[^:]*)(?::(?<port>\d+))?\z/].freeze

    # @param text [String] an address of TCP
    # @param port [Integer] where it names none
    # @return [Array(String, Integer)] host and port; any other text is a host, which the resolver has to know
    # @raise [ConfigurationError]
    def self.split(text, port)
      match = FORMS.filter_map { |form| form.match(text) }.first
      return [text, port] unless match

      port = match[:port].to_i if match[:port]
      raise ConfigurationError, "bind #{text}: the port must be from 0 to 65535" unless Configuration::PORTS.cover?(port)

      [match[:host], port]
    end
  end
end
