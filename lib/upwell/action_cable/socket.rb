# frozen_string_literal: true

module Upwell
  module ActionCable
    # A client of the server, in the place of Action Cable's ClientSocket, and what the server tells of it.
    class Socket
      # @return [String, nil] the subprotocol
      attr_reader :protocol

      # @param env [Hash] of the request
      # @param connection [::ActionCable::Connection::Base] that is told of what comes
      # @param protocols [Array<String>] of which the first that the client names is spoken
      def initialize(env, connection, protocols)
        @env = env
        @connection = connection
        @protocol = env["HTTP_SEC_WEBSOCKET_PROTOCOL"]&.split(/ *, */)&.find { |name| protocols.include?(name) }
      end

      # @return [Array] the response by which the server makes the connection a WebSocket
      def rack_response
        @env["rack.upgrade"] = self
        [101, protocol ? { "sec-websocket-protocol" => protocol } : {}, []]
      end

      # @return [Boolean]
      def alive?
        @client ? @client.open? : false
      end

      # @param message [String, Numeric, Array<Integer>] text, or the bytes of a binary message
      # @return [Boolean] whether the client is still there
      def transmit(message)
        return false unless @client

        case message
        when String then @client.write(text(message))
        when Numeric then @client.write(message.to_s)
        when Array then @client.write(message.pack("C*"))
        else false
        end
      end

      # @param code [Integer, nil] 1000, or 3000 to 4999
      # @param reason [String, nil]
      # @raise [ArgumentError] for another code
      def close(code = nil, reason = nil)
        code ||= 1000
        raise ArgumentError, "a WebSocket is closed with 1000, or 3000 to 4999; not #{code}" unless code == 1000 || code.between?(3000, 4999)

        @client&.close(code, reason || "")
      end

      # Of the server.
      def on_open(client)
        @client = client
        @connection.on_open
      end

      # Of the server.
      def on_message(_client, data)
        @connection.on_message(data) if alive?
      end

      # Of the server, when it ends: so the client knows that it may come back.
      def on_shutdown(_client)
        @connection.close(reason: ::ActionCable::INTERNAL[:disconnect_reasons][:server_restart])
      end

      # Of the server. One that was gone before it was open has never been a connection.
      def on_close(_client)
        @connection.on_close("", 1006) if @client
      end

      private

      # What a coder makes is text, whatever it calls it.
      def text(message)
        case message.encoding
        when Encoding::UTF_8 then message
        when Encoding::BINARY then message.dup.force_encoding(Encoding::UTF_8)
        else message.encode(Encoding::UTF_8)
        end
      end
    end
  end
end
