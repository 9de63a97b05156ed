# frozen_string_literal: true

# The public methods to publish and subscribe, the same on every platform.
module Upwell
  # Publishes a message to all subscribers of a channel. Any thread may call this method. If messages arrive faster than they can be delivered,
  # the call blocks.
  #
  # @param channel [String, Symbol] at most 1024 bytes
  # @param message [String] a text; or, in the encoding BINARY, bytes
  # @param engine [Object, false, nil] nil: the default engine, see {PubSub.default}; false: only the subscribers of this process
  # @return [Boolean] whether the message was accepted
  # @raise [ArgumentError] for a text that is invalid in its encoding, or for a name that is too long
  # @raise [TypeError] for a message that is not a String
  def self.publish(channel, message, engine = nil)
    PubSub.publish(channel, message, engine)
  end

  # Subscribes a block to the messages of a channel, or of all channels that match a pattern. The block runs in each serving process, where
  # requests run, for one message after another. At most 1024 messages and 1 MiB wait for the block; further messages are dropped. The
  # call may come before the server runs.
  #
  # @param channel [String, Symbol]
  # @param is_pattern [Boolean] true means `match: :redis`
  # @param match [Symbol, nil] :redis for a pattern
  # @param handler [#call, nil] in place of a block
  # @yieldparam channel [String]
  # @yieldparam message [String] a text in UTF-8, or bytes in BINARY
  # @return [Subscription] a process may have 1024 different patterns: a further one receives no messages, and the log says so
  # @raise [ArgumentError] for a name that is too long, another `match`, or a missing block
  def self.subscribe(channel, is_pattern = nil, match: nil, handler: nil, &block)
    PubSub.subscribe(channel, is_pattern, match: match, handler: handler, &block)
  end
end
