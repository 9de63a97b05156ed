# backtick_javascript: true
# frozen_string_literal: true

require "upwell/event_stream"
require "upwell/head"

module Upwell
  # A client that asks to stay, by WebSocket or server-sent events: whether it does, and the head of the answer if the application has it.
  module Upgrade
    REFUSING_STATUS_MIN = 300
    # What the server tells itself.
    OURS = %w[connection content-encoding content-length content-type keep-alive sec-websocket-accept sec-websocket-extensions trailer
              transfer-encoding upgrade x-accel-buffering cache-control].freeze

    %x{
      const KEY = /^[A-Za-z0-9+\/]{22}==$/;
      const WEBSOCKET = /(?:^|,)[ \t]*websocket[ \t]*(?:,|$)/i, CONNECTION = /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i;
      const EVENT_STREAM = /(?:^|,)[ \t]*text\/event-stream[ \t]*(?:;[^,]*)?(?=,|$)/i, REFUSED = /;[ \t]*q=0(?:\.0*)?[ \t]*$/i;
    }

    class << self
      # @param env [Hash] of the request
      # @return [Symbol, nil] :websocket or :sse
      def wanted(env)
        return unless `env.get("REQUEST_METHOD") === "GET"`
        return :websocket if `env.has("HTTP_UPGRADE")` && websocket?(env)

        :sse if `env.has("HTTP_ACCEPT")` && event_stream?(env)
      end

      # @param kind [Symbol]
      # @param headers [Hash, #each] the application's
      # @return [Head] without those that are ours
      # @raise [Head::Invalid]
      def head(kind, headers)
        kept = {}
        headers.each { |name, value| kept[name] = value unless OURS.include?(name.downcase) }
        Head.new(200, kind == :sse ? kept.merge(EventStream::HEADERS) : kept)
      end

      private

      # RFC 6455, section 4.2.1. A repeated field is a list, and so neither key nor version.
      def websocket?(env)
        %x{
          return WEBSOCKET.test(env.get("HTTP_UPGRADE")) && CONNECTION.test(env.get("HTTP_CONNECTION") || "") &&
            env.get("SERVER_PROTOCOL") === "HTTP/1.1" && env.get("HTTP_SEC_WEBSOCKET_VERSION") === "13" &&
            KEY.test(env.get("HTTP_SEC_WEBSOCKET_KEY") || "") && !+(env.get("CONTENT_LENGTH") || 0);
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
