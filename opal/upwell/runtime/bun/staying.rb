# backtick_javascript: true
# frozen_string_literal: true

require "upwell/client/event_stream_line"
require "upwell/runtime/bun/web_socket"

module Upwell
  module Runtime
    class Bun
      # How clients stay after their request.
      module Staying
        # The client has the connection from now on.
        #
        # @param client [JavaScript Client]
        # @param head [Head]
        # @param staying [Client]
        # @return [void]
        def accept(client, head, staying)
          %x{
            const { headers } = #{start(head)};

            client.response = undefined; // there is none
            client.req.headers.delete("sec-websocket-protocol"); // of which the runtime would take the first
            if (!client.local.server.upgrade(client.req, { headers, data: #{WebSocket.new(staying)} })) #{refuse_upgrade};
          }
        end

        # Tells the line of a response that does not end by itself when the client has left.
        def attend(client, line)
          `client.left = () => #{line.gone}`
          write(client, Client::EventStreamLine::COMMENT) # with which the head leaves
        end

        # The client has left.
        def refuse_upgrade
          raise Errno::EPIPE, "the runtime did not switch to the WebSocket"
        end

        # @yield when all that was written has been sent
        def await_drained(client, &drained)
          `client.drained = drained`
        end
      end
    end
  end
end
