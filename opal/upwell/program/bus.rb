# backtick_javascript: true
# frozen_string_literal: true

require "upwell/publication"

module Upwell
  class Program < Command
    # Connects the publish/subscribe of workers. The supervisor forwards each worker's messages to the others, in order of arrival:
    # see {WorkerSlot}.
    class Bus
      # @param channels [Channels] the worker's own
      # @param pipe [IPCChannel] to the supervisor
      def initialize(channels, pipe)
        @channels = channels
        @pipe = pipe
      end

      # Connects this worker.
      def begin
        PubSub::CLUSTER.carrier = method(:publish)
        `process.on("message", message => message.published && #{deliver(`message.published`)})`
      end

      private

      # The other workers come first, because a subscriber here may publish an answer.
      def publish(channel, message)
        publication = Publication.new(Channels.topic(channel, nil), MessageText.checked(message))
        @pipe.publish(`{ published: #{written(publication)} }`)
        @channels.publish(publication)
        true
      end

      # @return [JavaScript Array] channel, message and whether it is a text, in a form for JSON: a code unit represents a byte
      def written(publication)
        publication.text? ? `[publication.name, publication.data, true]` : `[publication.name, publication.data.latin1Slice(), false]`
      end

      def deliver(written)
        data = `written[2] ? written[1] : Buffer.from(written[1], "latin1")`
        @channels.publish(Publication.new(`written[0]`, data))
      end
    end
  end
end
