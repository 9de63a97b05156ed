# frozen_string_literal: true

require_relative "not_ready_errors"

module Upwell
  module PubSub
    class Redis
      # One connection. One thread reads. Another thread may write or close, and the reading thread notices.
      class Connection
        # @param connection [RedisClient::PubSub]
        def initialize(connection)
          @connection = connection
          @reason = nil
        end

        # Sends a command.
        #
        # @param command [Array<String>]
        # @raise [RedisClient::Error]
        def write(*command)
          unless_closed { @connection.call(*command) }
        end

        # Reads an event or an answer.
        #
        # @param seconds [Numeric] the time-out; 0: no limit
        # @return [Object, nil] an event or answer, which may be an error; nil after the time-out, when the connection is unusable
        # @raise [RedisClient::Error] also when Redis is not ready
        def read(seconds)
          unless_closed { NotReadyErrors.check(@connection.next_event(seconds)) }
        end

        # Checks with a PING whether Redis is ready.
        #
        # @param seconds [Numeric] the time-out
        # @raise [RedisClient::Error]
        def try_out(seconds)
          write("PING")
          read(seconds) || raise(RedisClient::ReadTimeoutError, "no answer within #{seconds} s")
        end

        # Closes the connection. Further calls have no effect.
        #
        # @param reason [String] for the reading thread
        def close(reason = "closed")
          @reason ||= reason
          @connection.close
        end

        # The connection's inspect method shows the password.
        alias inspect to_s

        private

        # The gem does not support a close by another thread.
        def unless_closed
          yield
        rescue NoMethodError, IOError, RedisClient::ConnectionError
          raise unless @reason

          raise RedisClient::ConnectionError, @reason
        end
      end
    end
  end
end
