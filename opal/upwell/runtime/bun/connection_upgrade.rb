# backtick_javascript: true
# frozen_string_literal: true

require "upwell/client/event_stream_connection"
require "upwell/runtime/bun/websocket_connection"

module Upwell
  module Runtime
    class Bun
      # Long-lived clients.
      module ConnectionUpgrade
        # Hands the connection over to a long-lived client.
        #
        # @param client [JavaScript Client]
        # @param head [ResponseHead]
        # @param long_lived_client [Client]
        # @return [void]
        def accept(client, head, long_lived_client)
          %x{
            const { headers } = #{start(head)};

            client.response = undefined; // there is no response
            client.req.headers.delete("sec-websocket-protocol"); // Bun would select the first one
            if (!client.local.server.upgrade(client.req, { headers, data: #{WebSocketConnection.new(long_lived_client)} })) #{refuse_upgrade};
          }
        end

        # Notifies the line of an endless response when the client has disconnected.
        def attend(client, line)
          `client.left = () => #{line.gone}`
          write(client, Client::EventStreamConnection::COMMENT) # this sends the head
        end

        # Bun sends data written within the request's call at its end.
        def hold_back(_client)
          yield
        end

        # The client has disconnected.
        def refuse_upgrade
          raise Errno::EPIPE, "the client disconnected before the connection became a WebSocket"
        end

        # @yield when all written data has been sent
        def await_drained(client, &drained)
          `client.drained = drained`
        end
      end
    end
  end
end
