# frozen_string_literal: true

require "upwell/callback_queue"

module Upwell
  # A subscription of {Upwell.subscribe}, whose block is called with the messages.
  class BlockSubscriber
    # @return [String]
    attr_reader :topic
    # @return [Symbol, nil]
    attr_reader :match

    # @param topic [String]
    # @param match [Symbol, nil]
    # @param callable [#call]
    def initialize(topic, match, callable)
      @topic = topic
      @match = match
      @callable = callable
      @inbox = CallbackQueue.new(nil) { nil } # after a failure the next message is delivered
    end

    # @param publication [Publication]
    # @return [Boolean]
    def deliver(publication)
      @inbox.take_published(publication.bytesize) { @callable.call(publication.channel, publication.message) unless @ended }
    end

    # Ends the subscription. Waiting messages are dropped.
    def end
      @ended = true
      @inbox.drop_messages
    end
  end
end
