# backtick_javascript: true
# frozen_string_literal: true

require "upwell/publication"

module Upwell
  class Program < Command
    # What is published in a worker goes to the others by the supervisor, who passes it on in the order in which it comes: see {Slot}.
    class Bus
      # @param channels [Channels] those of this worker
      # @param pipe [Pipe] to the supervisor
      def initialize(channels, pipe)
        @channels = channels
        @pipe = pipe
      end

      # Publishes and hears by it from now on.
      def begin
        PubSub::CLUSTER.carrier = method(:publish)
        `process.on("message", message => message.published && #{hear(`message.published`)})`
      end

      private

      # To the others first: whom it reaches here may publish an answer.
      def publish(channel, message)
        publication = Publication.new(Channels.topic(channel, nil), Text.checked(message))
        @pipe.publish(`{ published: #{written(publication)} }`)
        @channels.publish(publication)
        true
      end

      # @return [JavaScript Array] channel, message and whether that is a text, in a form that JSON has; a code unit for a byte
      def written(publication)
        publication.text? ? `[publication.name, publication.data, true]` : `[publication.name, publication.data.latin1Slice(), false]`
      end

      def hear(written)
        data = `written[2] ? written[1] : Buffer.from(written[1], "latin1")`
        @channels.publish(Publication.new(`written[0]`, data))
      end
    end
  end
end
