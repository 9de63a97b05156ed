# backtick_javascript: true
# frozen_string_literal: true

require "upwell/client/event_stream_connection"
require "upwell/runtime/uwebsockets/websocket_connection"

module Upwell
  module Runtime
    class UWebSockets
      # Long-lived clients.
      module ConnectionUpgrade
        # Hands the connection over to a long-lived client.
        #
        # @param client [JavaScript Client]
        # @param head [ResponseHead]
        # @param long_lived_client [Client]
        # @return [void]
        def accept(client, head, long_lived_client)
          env = long_lived_client.env
          cork(client) do
            `client.res.writeStatus("101 Switching Protocols")`
            write_fields(client, head)
            %x{
              client.res.upgrade({ line: #{WebSocketConnection.new(long_lived_client)} }, #{env["HTTP_SEC_WEBSOCKET_KEY"]}, "",
                                 #{env["HTTP_SEC_WEBSOCKET_EXTENSIONS"].to_s}, client.context);
            }
          end
          finished(client)
        end

        # Notifies the line of an endless response when the client has disconnected.
        def attend(client, line)
          `client.left = () => #{line.gone}`
          write(client, Client::EventStreamConnection::COMMENT) # this sends the head
        end

        # Data written within the block is sent at its end.
        def hold_back(client, &writes)
          cork(client, &writes)
        end

        # @yield when all written data has been sent
        def await_drained(client, &drained)
          behind(client).zero? ? `setImmediate(drained)` : `client.drained = drained`
        end
      end
    end
  end
end
