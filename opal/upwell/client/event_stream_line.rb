# backtick_javascript: true
# frozen_string_literal: true

require "upwell/client/close"
require "upwell/event_stream"
require "upwell/text"

module Upwell
  class Client
    # How a client of server-sent events is talked to: the response that does not end.
    class EventStreamLine
      COMMENT = ":\n\n"
      RETRY_MIN = 1.0 # seconds
      RETRY_SPREAD = 4.0 # they do not all come back in one moment to what takes this server's place

      # @param runtime [Object]
      # @param response [Object] the runtime's
      # @param client [Client]
      def initialize(runtime, response, client)
        @runtime = runtime
        @response = response
        @client = client
      end

      # It has begun.
      def begin
        @runtime.attend(@response, self)
        @client.opened(self)
      end

      def write(data)
        write_event(EventStream.format(`typeof data === "string" ? data : #{Text.read(data)}`))
      end

      # @param text [String]
      def write_event(text)
        send(Bytes.of(text))
      end

      def publish(publication, _text)
        send(publication.framed(:sse) { `Buffer.from(#{Bytes.of(EventStream.format(publication.text))})` })
      end

      def behind
        @runtime.behind(@response)
      end

      # So that nobody between takes the connection for dead, and that it is noticed when it is. What is still outgoing does as well.
      def ask
        send(COMMENT) if behind.zero?
      end

      def answers?
        false
      end

      # There is no place for a code.
      def end(code, _reason)
        return if @runtime.gone?(@response)

        write_event(EventStream.format(nil, retry: RETRY_MIN + (rand * RETRY_SPREAD))) if code == Close::GOING_AWAY
        @runtime.finish(@response)
      end

      def cut
        @runtime.abort(@response)
      end

      def await_drained
        @runtime.await_drained(@response) { @client.drained }
      end

      # The runtime's: the connection has ended.
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
