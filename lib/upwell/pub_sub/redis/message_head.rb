# frozen_string_literal: true

module Upwell
  module PubSub
    class Redis
      # The head of each message: the publishing engine and the message's number. With both, receivers skip duplicates. A repeated message also
      # names its request. Other programs publish without a head.
      MessageHead = Struct.new(:publisher, :number, :request) do
        # Splits a message.
        #
        # @param bytes [String]
        # @return [Array(MessageHead, String)] the head, or nil, and the message
        def self.split(bytes)
          return [nil, bytes] unless bytes.start_with?(self::START)

          match = self::FORMAT.match(bytes.b)
          match ? [new(match[1], match[2].to_i, match[3]), match.post_match] : [nil, bytes]
        end

        # Adds the head to a message.
        #
        # @param text [String]
        # @return [String] the bytes for Redis
        def join(text)
          "#{self.class::START}#{[publisher, number, request].compact.join(":")}\x02".b << text
        end
      end
      MessageHead::START = "\x01upwell:"
      MessageHead::FORMAT = /\A\x01upwell:(\h{16}):(\d{1,18})(?::([\h.]{1,40}))?\x02/n
    end
  end
end
