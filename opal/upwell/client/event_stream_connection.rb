# backtick_javascript: true
# frozen_string_literal: true

require "upwell/client/close_code"
require "upwell/event_stream"
require "upwell/message_text"

module Upwell
  class Client
    # The connection to a client of server-sent events: a response without an end.
    class EventStreamConnection
      COMMENT = ":\n\n"
      RETRY_MIN = 1.0 # seconds
      RETRY_SPREAD = 4.0 # clients reconnect to the server's successor at different times

      # @param runtime [Object]
      # @param response [Object] the runtime's
      # @param client [Client]
      def initialize(runtime, response, client)
        @runtime = runtime
        @response = response
        @client = client
      end

      # Sends the beginning.
      def begin
        @runtime.attend(@response, self)
        @client.opened(self)
      end

      def write(data)
        write_event(EventStream.format(`typeof data === "string" ? data : #{MessageText.read(data)}`))
      end

      # @param text [String]
      def write_event(text)
        send(ByteConversion.of(text))
      end

      def publish(publication, _text)
        send(publication.framed(:sse) { `Buffer.from(#{ByteConversion.of(EventStream.format(publication.text))})` })
      end

      def behind
        @runtime.behind(@response)
      end

      # Writes a comment, so that proxies keep the connection and a broken one is noticed. Unsent data has the same effect.
      def ask
        send(COMMENT) if behind.zero?
      end

      def answers?
        false
      end

      # An event stream has no field for the code.
      def end(code, _reason)
        return if @runtime.gone?(@response)

        write_event(EventStream.format(nil, retry: RETRY_MIN + (rand * RETRY_SPREAD))) if code == CloseCode::GOING_AWAY
        @runtime.finish(@response)
      end

      def cut
        @runtime.abort(@response)
      end

      def await_drained
        @runtime.await_drained(@response) { @client.drained }
      end

      # The runtime calls this method when the connection has ended.
      def gone
        @client.gone
      end

      private

      def send(data)
        @runtime.write(@response, data) unless @runtime.gone?(@response)
      end
    end
  end
end
