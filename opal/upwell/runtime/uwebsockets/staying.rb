# backtick_javascript: true
# frozen_string_literal: true

require "upwell/client/event_stream_line"
require "upwell/runtime/uwebsockets/web_socket"

module Upwell
  module Runtime
    class UWebSockets
      # How clients stay after their request.
      module Staying
        # The client has the connection from now on.
        #
        # @param client [JavaScript Client]
        # @param head [Head]
        # @param staying [Client]
        # @return [void]
        def accept(client, head, staying)
          env = staying.env
          cork(client) do
            `client.res.writeStatus("101 Switching Protocols")`
            write_fields(client, head)
            %x{
              client.res.upgrade({ line: #{WebSocket.new(staying)} }, #{env["HTTP_SEC_WEBSOCKET_KEY"]}, "",
                                 #{env["HTTP_SEC_WEBSOCKET_EXTENSIONS"].to_s}, client.context);
            }
          end
          finished(client)
        end

        # Tells the line of a response that does not end by itself when the client has left.
        def attend(client, line)
          `client.left = () => #{line.gone}`
          write(client, Client::EventStreamLine::COMMENT) # with which the head leaves
        end

        # @yield when all that was written has been sent
        def await_drained(client, &drained)
          behind(client).zero? ? `setImmediate(drained)` : `client.drained = drained`
        end
      end
    end
  end
end
