# frozen_string_literal: true

module Upwell
  class Client
    # One subscription of a client. Messages are sent to the client, or passed to a block.
    class ChannelSubscription
      # @return [String]
      attr_reader :topic
      # @return [Symbol, nil]
      attr_reader :match

      # @param client [Client]
      # @param topic [String]
      # @param match [Symbol, nil]
      # @param form [Symbol, nil] :text or :binary
      # @param callable [#call, nil]
      def initialize(client, topic, match, form, callable)
        @client = client
        @topic = topic
        @match = match
        @form = form
        @callable = callable
        @ended = false
      end

      # @return [Boolean]
      def calls?
        !@callable.nil?
      end

      # @param other [ChannelSubscription]
      # @return [Boolean]
      def same?(other)
        !calls? && topic == other.topic && match == other.match
      end

      # Ends the subscription: its block is not called any more.
      def end
        @ended = true
      end

      # @param publication [Publication]
      # @return [Boolean]
      def deliver(publication)
        return @client.call_back(publication, method(:call)) if @callable

        text = text?(publication)
        !text || publication.valid_text? ? @client.tell(publication, text) : false
      end

      private

      def text?(publication)
        @form ? @form == :text : publication.text?
      end

      def call(channel, message)
        @callable.call(channel, message) unless @ended
      end
    end
  end
end
