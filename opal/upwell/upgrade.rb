# backtick_javascript: true
# frozen_string_literal: true

require "upwell/event_stream"
require "upwell/response_head"

module Upwell
  # A request to become a long-lived client, by WebSocket or server-sent events. This module checks it and builds the head of the answer.
  module Upgrade
    REFUSING_STATUS_MIN = 300
    # Fields that the server sets.
    OURS = %w[connection content-encoding content-length content-type keep-alive sec-websocket-accept sec-websocket-extensions trailer
              transfer-encoding upgrade x-accel-buffering cache-control].freeze
    OTHER_VERSION_HEADERS = { "content-type" => "text/plain", "connection" => "close", "upgrade" => "websocket",
                              "sec-websocket-version" => "13" }.freeze
    OTHER_VERSION_TEXT = "426 Upgrade Required\n"

    %x{
      const VERSION = "13", KEY = /^[A-Za-z0-9+\/]{22}==$/;
      const WEBSOCKET = /(?:^|,)[ \t]*websocket[ \t]*(?:,|$)/i, CONNECTION = /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i;
      const EVENT_STREAM = /(?:^|,)[ \t]*text\/event-stream[ \t]*(?:;[^,]*)?(?=,|$)/i, REFUSED = /;[ \t]*q=0(?:\.0*)?[ \t]*$/i;
    }

    class << self
      # Finds the protocol that a request asks for.
      #
      # @param env [Hash] of the request
      # @return [Symbol, nil] :websocket or :sse
      def wanted(env)
        return unless `env.get("REQUEST_METHOD") === "GET"`
        return :websocket if `env.has("HTTP_UPGRADE")` && websocket?(env)

        :sse if `env.has("HTTP_ACCEPT")` && event_stream?(env)
      end

      # Checks for an unsupported version (RFC 6455, section 4.4).
      #
      # @param env [Hash] of the request
      # @return [Boolean] whether the request asks for a WebSocket in an unsupported version
      def other_version?(env)
        %x{
          const version = env.get("HTTP_SEC_WEBSOCKET_VERSION");

          return version !== undefined && version !== VERSION && env.get("REQUEST_METHOD") === "GET" && #{asks_for_websocket?(env)};
        }
      end

      # Answers such a request, instead of the application.
      #
      # @param runtime [Object]
      # @param client [Object] the runtime's
      # @return [true]
      def refuse(runtime, client)
        runtime.answer(client, ResponseHead.new(426, OTHER_VERSION_HEADERS), OTHER_VERSION_TEXT)
        true
      end

      # Builds the head of the answer.
      #
      # @param kind [Symbol]
      # @param headers [Hash, #each] the application's
      # @return [ResponseHead] without the fields that the server sets
      # @raise [ResponseHead::Invalid]
      def head(kind, headers)
        kept = {}
        headers.each { |name, value| kept[name] = value unless OURS.include?(name.downcase) }
        ResponseHead.new(200, kind == :sse ? kept.merge(EventStream::HEADERS) : kept)
      end

      private

      # Checks the request (RFC 6455, section 4.2.1). A repeated field is a list, so it is neither a valid key nor a valid version.
      def websocket?(env)
        %x{
          return #{asks_for_websocket?(env)} && env.get("HTTP_SEC_WEBSOCKET_VERSION") === VERSION &&
            KEY.test(env.get("HTTP_SEC_WEBSOCKET_KEY") || "");
        }
      end

      # Checks for a WebSocket request of any version.
      def asks_for_websocket?(env)
        %x{
          return WEBSOCKET.test(env.get("HTTP_UPGRADE") || "") && CONNECTION.test(env.get("HTTP_CONNECTION") || "") &&
            env.get("SERVER_PROTOCOL") === "HTTP/1.1" && !+(env.get("CONTENT_LENGTH") || 0);
        }
      end

      def event_stream?(env)
        %x{
          const found = EVENT_STREAM.exec(env.get("HTTP_ACCEPT"));

          return found !== null && !REFUSED.test(found[0]);
        }
      end
    end
  end
end
