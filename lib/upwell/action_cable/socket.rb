# frozen_string_literal: true

module Upwell
  module ActionCable
    # Replaces Action Cable's ClientSocket by a client of the server, and handles the server's callbacks.
    class Socket
      # @return [String, nil] the subprotocol
      attr_reader :protocol

      # @param env [Hash] of the request
      # @param connection [::ActionCable::Connection::Base] receives the events
      # @param protocols [Array<String>] supported subprotocols; the first that the client names is selected
      def initialize(env, connection, protocols)
        @env = env
        @connection = connection
        @protocol = env["HTTP_SEC_WEBSOCKET_PROTOCOL"]&.split(/ *, */)&.find { |name| protocols.include?(name) }
      end

      # @return [Array] the response that turns the connection into a WebSocket
      def rack_response
        @env["rack.upgrade"] = self
        [101, protocol ? { "sec-websocket-protocol" => protocol } : {}, []]
      end

      # @return [Boolean]
      def alive?
        @client ? @client.open? : false
      end

      # Sends a message.
      #
      # @param message [String, Numeric, Array<Integer>] text, or the bytes of a binary message
      # @return [Boolean] whether the client is still connected
      def transmit(message)
        return false unless @client

        case message
        when String then @client.write(text(message))
        when Numeric then @client.write(message.to_s)
        when Array then @client.write(message.pack("C*"))
        else false
        end
      end

      # Closes the connection (RFC 6455, section 7).
      #
      # @param code [Integer, nil] 1000, or 3000 to 4999
      # @param reason [String, nil]
      # @raise [ArgumentError] for another code
      def close(code = nil, reason = nil)
        code ||= 1000
        raise ArgumentError, "the close code #{code} is not valid; use 1000, or 3000 to 4999" unless code == 1000 || code.between?(3000, 4999)

        @client&.close(code, reason || "")
      end

      # The server calls this method when the connection is open.
      def on_open(client)
        @client = client
        @connection.on_open
      end

      # The server calls this method for each message.
      def on_message(_client, data)
        @connection.on_message(data) if alive?
      end

      # The server calls this method when it shuts down, and the client learns that it may reconnect.
      def on_shutdown(_client)
        @connection.close(reason: ::ActionCable::INTERNAL[:disconnect_reasons][:server_restart])
      end

      # The server calls this method at the end. A client that disconnected before it was open never was a connection.
      def on_close(_client)
        @connection.on_close("", 1006) if @client
      end

      private

      # A coder's output is text, whatever its encoding.
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
