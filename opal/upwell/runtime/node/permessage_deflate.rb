# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  module Runtime
    class Node
      # permessage-deflate (RFC 7692), as negotiated with a client. No message refers to another (no context takeover). So idle clients need no
      # memory, and a published message is compressed once for all.
      class PermessageDeflate
        NAME = "permessage-deflate"
        BYTES_MIN = 128 # of a message to compress
        SMALLEST = 8 # window; zlib does not support this size, so messages are not compressed

        %x{
          const zlib = require("zlib"), FLUSH = { finishFlush: zlib.constants.Z_SYNC_FLUSH }, TAIL = Buffer.of(0, 0, 0xff, 0xff);
          const ITEM = /[ \t]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)(?:=(?:([!#$%&'*+\-.^_`|~0-9A-Za-z]+)|"([^"]*)"))?[ \t]*([;,]|$)/y;
          const BITS = /^(?:[89]|1[0-5])$/;
        }

        # Selects an offer (RFC 7692, section 5).
        #
        # @param offers [String, nil] Sec-WebSocket-Extensions
        # @return [PermessageDeflate, nil] for the first acceptable offer
        def self.agree(offers)
          offer = parse(offers.to_s).find { |name, parameters| name == NAME && acceptable?(parameters) }
          offer && new(offer.last.to_h["server_max_window_bits"])
        end

        # @return [Array<Array(String, Array<Array(String, String)>)>] empty for an invalid field
        def self.parse(offers)
          parsed = []
          %x{
            let begins = true;

            ITEM.lastIndex = 0;
            while (ITEM.lastIndex < offers.length || !begins) {
              const item = ITEM.exec(offers);

              if (item === null) return [];
              const value = item[2] ?? item[3] ?? nil;

              if (begins) parsed.push([item[1], []]);
              else parsed[parsed.length - 1][1].push([item[1], value]);
              begins = item[4] !== ";";
              if (item[4] === "") break;
            }
          }
          parsed
        end
        private_class_method :parse

        def self.acceptable?(parameters)
          return false unless parameters.map(&:first).uniq.size == parameters.size

          parameters.all? do |name, value|
            case name
            when "server_no_context_takeover", "client_no_context_takeover" then value.nil?
            when "server_max_window_bits" then `BITS.test(value)`
            when "client_max_window_bits" then value.nil? || `BITS.test(value)`
            end
          end
        end
        private_class_method :acceptable?

        # @return [Integer] the window size for compression
        attr_reader :bits

        # @param bits [String, nil] the client's window size
        def initialize(bits)
          @answer = "#{NAME}; server_no_context_takeover; client_no_context_takeover#{"; server_max_window_bits=#{bits}" if bits}"
          @bits = (bits || 15).to_i
        end

        # @return [String] the header field that accepts the offer
        attr_reader :answer

        # Checks whether a message is worth compressing.
        #
        # @param size [Integer] of a message
        # @return [Boolean]
        def worthwhile?(size)
          size >= BYTES_MIN && @bits > SMALLEST
        end

        # Compresses a message.
        #
        # @param bytes [JavaScript Uint8Array, JavaScript String]
        # @return [JavaScript Uint8Array]
        def deflate(bytes)
          `zlib.deflateRawSync(bytes, { ...FLUSH, windowBits: self.bits }).subarray(0, -TAIL.length)`
        end

        # Decompresses a message.
        #
        # @param bytes [JavaScript Uint8Array]
        # @param bytes_max [Integer]
        # @return [JavaScript Uint8Array]
        def inflate(bytes, bytes_max)
          `zlib.inflateRawSync(Buffer.concat([bytes, TAIL]), { ...FLUSH, maxOutputLength: bytes_max })`
        end
      end
    end
  end
end
