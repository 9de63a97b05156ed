# frozen_string_literal: true

require "upwell/inbox"

module Upwell
  # What {Upwell.subscribe} has called with the messages of a channel.
  class Ear
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
      @inbox = Inbox.new(nil) { nil } # it hears what comes next
    end

    # @param publication [Publication]
    # @return [Boolean]
    def deliver(publication)
      @inbox.take_published(publication.bytesize) { @callable.call(publication.channel, publication.message) unless @ended }
    end

    # What waits is not told any more.
    def end
      @ended = true
      @inbox.drop_messages
    end
  end
end
