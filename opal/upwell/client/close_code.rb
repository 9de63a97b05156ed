# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  class Client
    # The close of a connection (RFC 6455, section 7.4).
    module CloseCode
      NORMAL = 1000
      GOING_AWAY = 1001
      PROTOCOL = 1002
      NOT_UTF8 = 1007
      POLICY = 1008
      TOO_LARGE = 1009
      FAILED = 1011
      REASON_BYTES_MAX = 123

      class << self
        # Checks a code (RFC 6455, section 7.4).
        #
        # @param code [Integer]
        # @return [Boolean] whether the code may be sent
        def valid?(code)
          `(code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) || (code >= 3000 && code <= 4999)`
        end

        # Refuses a code that must not be sent.
        #
        # @param code [Integer]
        # @raise [ArgumentError] for a code that must not be sent
        def check(code)
          return if valid?(code)

          raise ArgumentError, "the close code #{code} is not valid; use 1000, or 3000 to 4999"
        end

        # Truncates a reason.
        #
        # @param text [String]
        # @return [String] the text, truncated to the length of a close frame
        def reason(text)
          %x{
            let bytes = Buffer.from(text.toString());

            if (bytes.length <= #{REASON_BYTES_MAX}) return text;
            let end = #{REASON_BYTES_MAX};
            while ((bytes[end] & 0xc0) === 0x80) end--; // not within a character
            return bytes.utf8Slice(0, end);
          }
        end
      end
    end
  end
end
