# frozen_string_literal: true

module Upwell
  module ActionCable
    # The handler of a stream without an application callback. It sends each message to the client under the subscription's identifier. The
    # client gets the same text as from Action Cable, in the order of the broadcasts. Text for many clients is encoded once.
    class DirectStream
      # A broadcast message with its encoded forms.
      class Message < String
        # @return [String]
        def encoded_for(identifier, coder)
          (@encoded ||= {})[[identifier, coder]] ||= yield
        end
      end

      EVENT = "transmit.action_cable"

      # Checks whether broadcasts can be sent directly.
      #
      # @param channel [::ActionCable::Channel::Base]
      # @return [Boolean] whether the channel has Action Cable's own `transmit`
      def self.possible?(channel)
        connection = channel.connection
        connection.try(:served_here?) && channel.method(:transmit).owner == ::ActionCable::Channel::Base &&
          %i[transmit encode].all? { |name| connection.method(name).owner == ::ActionCable::Connection::Base }
      end

      # @param channel [::ActionCable::Channel::Base]
      # @param coder [#decode] the decoder of broadcasts
      # @param watched [#call] Action Cable's handler, which logs and instruments
      def initialize(channel, coder, watched)
        @connection = channel.connection
        @identifier = channel.identifier
        @coder = coder
        @watched = watched
      end

      # Sends a broadcast to the client.
      #
      # @param message [String] the broadcast, still encoded
      def call(message)
        return @watched.call(message) if watched?

        @connection.transmit_encoded(message.is_a?(Message) ? message.encoded_for(@identifier, @coder) { encode(message) } : encode(message))
      end

      private

      def watched?
        @connection.server.logger.debug? || ActiveSupport::Notifications.notifier.listening?(EVENT)
      end

      def encode(message)
        @connection.send(:encode, { identifier: @identifier, message: @coder.decode(message) })
      end
    end
  end
end
