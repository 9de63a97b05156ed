# frozen_string_literal: true

module Upwell
  module ActionCable
    # What a stream without a callback of the application's does with a message: sends it to the client under the subscription's identifier. The
    # client gets what Action Cable would send, in the order of the broadcasts, and what many clients get alike is encoded once.
    class DirectStream
      # A message on its way, and what was made of it for whom.
      class Message < String
        # @return [String]
        def encoded_for(identifier, coder)
          (@encoded ||= {})[[identifier, coder]] ||= yield
        end
      end

      EVENT = "transmit.action_cable"

      # @param channel [::ActionCable::Channel::Base]
      # @return [Boolean] whether nobody does anything else when it transmits
      def self.possible?(channel)
        connection = channel.connection
        connection.try(:served_here?) && channel.method(:transmit).owner == ::ActionCable::Channel::Base &&
          %i[transmit encode].all? { |name| connection.method(name).owner == ::ActionCable::Connection::Base }
      end

      # @param channel [::ActionCable::Channel::Base]
      # @param coder [#decode] of what is broadcast
      # @param watched [#call] Action Cable's handler, which logs and instruments
      def initialize(channel, coder, watched)
        @connection = channel.connection
        @identifier = channel.identifier
        @coder = coder
        @watched = watched
      end

      # @param message [String] as it was broadcast
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
