# frozen_string_literal: true

module Upwell
  module PubSub
    class Redis
      # The protocol between engines, on a channel of their own. Each message is a word with fields:
      #
      #     position PUBLISHER NUMBER       the publisher has published up to this number
      #     repeat REQUEST START...         the requester has lost its connection
      #     begin PUBLISHER REQUEST GONE FROM   messages after FROM are repeated; those up to GONE are not kept any more
      #     end PUBLISHER REQUEST           all messages were repeated
      #
      # A request has a START for each publisher:
      #
      #     PUBLISHER=NUMBER    repeat the messages after this number
      #     PUBLISHER<SECONDS   repeat the messages that are younger; older engines ignore this field
      #     *<SECONDS           repeat these messages, for each publisher that the request does not name
      module ReplayProtocol
        CHANNEL = "upwell:engines"
        REQUEST = /\A\h{16}\.\d{1,18}\z/ # ENGINE.CONNECTION

        class << self
          # Builds the command that publishes a control message.
          #
          # @param fields [Array<#to_s>] the word first
          # @return [Array<String>] the command for Redis
          def command(*fields)
            ["PUBLISH", CHANNEL, fields.join(" ")]
          end

          # Splits a control message.
          #
          # @param message [String]
          # @return [Array<String>] the word and its fields
          def fields(message)
            message.b.split
          end

          # @param text [String, nil]
          # @return [Boolean] whether the text is an engine's request; other programs may publish to the channel, too
          def request?(text)
            REQUEST.match?(text)
          end

          # @param fields [Array<String>] of a request
          # @param publisher [String]
          # @return [Float, nil] the age in seconds up to which that publisher shall repeat its messages
          def seconds_for(publisher, fields)
            value = value_for("#{publisher}<", fields)
            value ||= value_for("*<", fields) unless value_for("#{publisher}=", fields)
            value && Float(value, exception: false)
          end

          # @param fields [Array<String>] of a request
          # @param publisher [String]
          # @return [Integer, nil] the number after which that publisher shall repeat its messages
          def number_for(publisher, fields)
            value = value_for("#{publisher}=", fields)
            value && Integer(value, 10, exception: false)
          end

          private

          def value_for(prefix, fields)
            fields.find { |field| field.start_with?(prefix) }&.delete_prefix(prefix)
          end
        end
      end
    end
  end
end
