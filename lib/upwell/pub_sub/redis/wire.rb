# frozen_string_literal: true

module Upwell
  module PubSub
    class Redis
      # One connection. Another thread than the one that reads may write, or close it: the one that reads notices.
      class Wire
        # @param connection [RedisClient::PubSub]
        def initialize(connection)
          @connection = connection
          @closed = false
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
        def close
          @closed = true
          @connection.close
        end

        private

        # The gem does not expect that.
        def unless_closed
          yield
        rescue NoMethodError, IOError
          raise unless @closed

          raise RedisClient::ConnectionError, "closed"
        end
      end
    end
  end
end
