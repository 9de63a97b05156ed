# frozen_string_literal: true

require "uri"
require_relative "../../hide_password"
require_relative "linger_zero"
require_relative "connection"

module Upwell
  module PubSub
    class Redis
      # The address of Redis with its connection settings.
      class Address
        TIMEOUT = 5 # seconds to connect and for each answer, enough for a busy Redis
        PATTERN = %r{\A(?:rediss?://|unix:/)}
        DESCRIPTION = "redis://HOST, rediss://HOST or unix:///PATH"

        # @param text [Object]
        # @return [Boolean] whether the text is a URL of Redis
        def self.match?(text)
          PATTERN.match?(text.to_s) && !URI(text.to_s).nil?
        rescue URI::Error
          false
        end

        # @param url [String]
        # @raise [ArgumentError] for an invalid URL
        def initialize(url)
          raise ArgumentError, "the URL of Redis must be #{DESCRIPTION}, not #{HidePassword.hide(url.to_s)}" unless Address.match?(url)

          @config = RedisClient.config(**options(url.to_s))
        end

        # Opens a connection.
        #
        # @return [Connection] a new connection
        # @raise [RedisClient::Error]
        def connect
          try_out(Connection.new(@config.new_client.pubsub))
        rescue IOError, SystemCallError, OpenSSL::OpenSSLError => e # for example for a file of certificates
          raise RedisClient::CannotConnectError, e.message
        end

        # @return [String] without password
        def to_s
          @config.server_url
        end

        # The inspect method of redis-client shows the password.
        #
        # @return [String] without password
        def inspect
          "#<#{self.class} #{self}>"
        end

        # Removes the password from a text.
        #
        # @param text [String] a message of Redis, which may repeat its input
        # @return [String] without password
        def hide(text)
          password = @config.password.to_s
          password.empty? ? text : text.gsub(password, "***")
        end

        private

        def try_out(wire)
          wire.try_out(TIMEOUT)
          ready = wire
        ensure
          wire.close unless ready
        end

        # Two threads use a connection: one writes and one reads. Only the Ruby driver supports this.
        def options(url)
          { url: url, timeout: TIMEOUT, driver: driver, reconnect_attempts: false, ssl_params: { ca_file: ca_file(url) }.compact }
        end

        def driver
          Class.new(RedisClient.driver(:ruby)) { prepend LingerZero }
        end

        def ca_file(url)
          URI.decode_www_form(URI(url).query.to_s).to_h["ca_file"]
        end
      end
    end
  end
end
