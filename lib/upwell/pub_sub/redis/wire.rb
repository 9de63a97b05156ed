# frozen_string_literal: true

module Upwell
  module PubSub
    class Redis
      # One connection. Another thread than the one that reads may write, or close it: the one that reads notices.
      class Wire
        # @param connection [RedisClient::PubSub]
        def initialize(connection)
          @connection = connection
          @reason = nil
        end

        # @param command [Array<String>]
        # @raise [RedisClient::Error]
        def write(*command)
          unless_closed { @connection.call(*command) }
        end

        # @param seconds [Numeric] 0: however long it takes
        # @return [Object, nil] an event or answer, an error among them; nil: none came, and the connection is of no use any more
        # @raise [RedisClient::Error]
        def read(seconds)
          unless_closed { @connection.next_event(seconds) }
        end

        # May be called again.
        #
        # @param reason [String] for the one that reads
        def close(reason = "closed")
          @reason ||= reason
          @connection.close
        end

        private

        # The gem does not expect that another thread closes it.
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
