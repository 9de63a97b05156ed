# frozen_string_literal: true

require_relative "../../exception_log"
require_relative "../../log"
require_relative "replay_protocol"
require_relative "message_head"

module Upwell
  module PubSub
    class Redis
      # Handles the events of a subscriber's connection, on one thread: messages for the receiver, control messages of other engines, and errors.
      class SubscriberEvents
        # @param receiver [#call, #forget] see {Redis#initialize}
        # @param heard [ReceivedNumbers]
        # @param engine [#repeat, #introduce] see {Session}
        def initialize(receiver, heard, engine)
          @receiver = receiver
          @heard = heard
          @engine = engine
          @engines_heard = false
        end

        # Resets the state for a new connection.
        #
        # @return [void]
        def begin
          @engines_heard = false
          forget
        end

        # @return [Boolean] whether the control channel works, so that other engines repeat missed messages
        def repeated?
          @engines_heard
        end

        # Handles an event.
        #
        # @param event [Object]
        # @return [void]
        def handle_event(event)
          case event
          when Array then hear_push(*event)
          when RedisClient::Error then hear_refusal(event.message)
          end
        end

        private

        # The control channel is the first subscription, and only requests are published on this connection.
        def hear_refusal(message)
          @heard.ask_nobody if !@engines_heard || message.match?(/'publish'/i)
          Log.tell("publish/subscribe: Redis rejects a subscription: #{message}; correct Redis's settings or ACL") if @refusal != message
          @refusal = message
        end

        def hear_push(kind, *parts)
          return handle_control_channel(kind, parts.last) if parts[-2] == ReplayProtocol::CHANNEL

          case kind
          when "message" then receive(nil, *parts)
          when "pmessage" then receive(*parts)
          else forget
          end
        end

        # An application's pattern may match the control channel, too.
        def handle_control_channel(kind, message)
          begin_engines if kind == "subscribe"
          handle_control_message(*ReplayProtocol.fields(message)) if kind == "message"
        end

        # Requests that other engines sent earlier did not reach this process.
        def begin_engines
          @engine.introduce
          @engines_heard = true
        end

        def handle_control_message(word = nil, *fields)
          case word
          when "position" then @heard.position(fields[0], fields[1].to_i) if fields[0]
          when "repeat" then @engine.repeat(fields[0], fields.drop(1)) if ReplayProtocol.request?(fields[0])
          when "begin" then @heard.begin_repeat(fields[0], fields[1], fields[2].to_i, fields[3]&.to_i) if fields[0]
          when "end" then @heard.end_repeat(fields[0], fields[1])
          end
        end

        # A receiver's error must not affect later messages.
        def receive(pattern, channel, message)
          head, message = MessageHead.split(message)
          return if head && !@heard.take?(head, pattern)

          @receiver.call(pattern, *[channel, message].map { |bytes| text(bytes) })
        rescue StandardError, ScriptError => e
          ExceptionLog.report(e, nil)
        end

        # Redis has no text type, so valid UTF-8 counts as text.
        def text(bytes)
          text = bytes.dup.force_encoding(Encoding::UTF_8)
          text.valid_encoding? ? text : text.force_encoding(Encoding::BINARY)
        end

        def forget
          @receiver.forget if @receiver.respond_to?(:forget)
        end
      end
    end
  end
end
