# frozen_string_literal: true

require "uri"
require_relative "gone_at_once"
require_relative "wire"

module Upwell
  module PubSub
    class Redis
      # Where Redis is, and how to reach it.
      class Address
        TIMEOUT = 5 # seconds to connect, and for each answer: a Redis that is busy is not lost
        PATTERN = %r{\A(?:rediss?://|unix:/)}
        DESCRIPTION = "redis://HOST, rediss://HOST or unix:///PATH"

        # @param text [Object]
        # @return [Boolean] whether it is the URL of one
        def self.match?(text)
          PATTERN.match?(text.to_s) && !URI(text.to_s).nil?
        rescue URI::Error
          false
        end

        # @param url [String]
        # @raise [ArgumentError]
        def initialize(url)
          raise ArgumentError, "must be #{DESCRIPTION}" unless Address.match?(url)

          @config = RedisClient.config(**options(url.to_s))
        end

        # @return [Wire] a new connection
        # @raise [RedisClient::Error]
        def connect
          Wire.new(@config.new_client.pubsub)
        rescue IOError, SystemCallError, OpenSSL::OpenSSLError => e # a file of certificates, for example
          raise RedisClient::CannotConnectError, e.message
        end

        # @return [String] without password
        def to_s
          @config.server_url
        end

        private

        # Two threads use a connection, one writes and one reads: so the driver in Ruby, which bears it.
        def options(url)
          { url: url, timeout: TIMEOUT, driver: driver, reconnect_attempts: false, ssl_params: { ca_file: ca_file(url) }.compact }
        end

        def driver
          Class.new(RedisClient.driver(:ruby)) { prepend GoneAtOnce }
        end

        def ca_file(url)
          URI.decode_www_form(URI(url).query.to_s).to_h["ca_file"]
        end
      end
    end
  end
end
