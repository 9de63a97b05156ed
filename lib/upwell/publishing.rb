# frozen_string_literal: true

# What an application publishes and hears by, wherever it runs.
module Upwell
  # Publishes a message to all that have subscribed to the channel. Any thread may call it; where more is published than can be delivered, it
  # waits for its turn.
  #
  # @param channel [String, Symbol] of at most 1024 bytes
  # @param message [String] a text; or, in the encoding BINARY, bytes
  # @param engine [Object, false, nil] nil: the default one, see {PubSub.default}; false: the subscribers of this process alone
  # @return [Boolean] whether it is on its way
  # @raise [ArgumentError] for a text that is not valid in its encoding, or too long a name
  def self.publish(channel, message, engine = nil)
    PubSub.publish(channel, message, engine)
  end

  # Has a block called with each message of a channel, or of all whose names match a pattern: in each process that serves, as the application is
  # called with requests, one message after another. Of those that wait for it 1024 are kept, and of 1 MiB, and the rest dropped. Before the
  # server runs it may be called, too.
  #
  # @param channel [String, Symbol]
  # @param match [Symbol, nil] :redis for a pattern
  # @param handler [#call, nil] in the place of a block
  # @yieldparam channel [String]
  # @yieldparam message [String] a text in UTF-8, or bytes in BINARY
  # @return [Subscription] which hears nothing for one pattern more than the 1024 different ones that a process may have: the log tells that
  # @raise [ArgumentError] for too long a name, another `match`, or no block
  def self.subscribe(channel, match: nil, handler: nil, &block)
    PubSub.subscribe(channel, match: match, handler: handler, &block)
  end
end
