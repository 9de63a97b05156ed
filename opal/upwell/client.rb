# backtick_javascript: true
# frozen_string_literal: true

require "upwell/client/close_code"
require "upwell/client/idle_timeout"
require "upwell/client/subscriptions"
require "upwell/event_stream"
require "upwell/callback_queue"
require "upwell/message_text"

module Upwell
  # A long-lived client, by WebSocket or server-sent events. The application can write to it at any time. The callbacks of the handler in
  # `env["rack.upgrade"]` receive this object. The interface is the same as on MRI.
  #
  # Its line is the connection: `write(text_or_bytes)`, `publish(publication, text)`, `behind`, `ask`, `answers?`, `end(code, reason)`,
  # `cut`, and `await_drained`, which calls {#drained}.
  class Client
    PUBSUB_VERSION = 0 # the version of Iodine's draft, which is in development

    # @return [Symbol] :websocket or :sse, as in `env["rack.upgrade?"]`
    attr_reader :protocol
    # @return [Hash] the env of the client's request
    attr_reader :env
    # @return [Object] the object with the callbacks
    attr_reader :handler
    # @!visibility private
    attr_reader :bytes_max

    # @param clients [ClientRegistry]
    # @param protocol [Symbol] :websocket or :sse
    # @param env [Hash]
    # @param handler [Object]
    def initialize(clients, protocol, env, handler)
      @clients = clients
      @protocol = protocol
      @env = env
      @bytes_max = clients.bytes_max
      @inbox = CallbackQueue.new(env) { end_with(CloseCode::FAILED) }
      @subscriptions = Subscriptions.new(self, clients.channels)
      @idle_timeout = IdleTimeout.new(clients.idle_timeout) { |question| miss(question) }
      @open = true
      @drained_awaited = false
      take_handler(handler)
    end

    # Sends a message; to a client of server-sent events, the data of an event. The call never waits. If more than `client_bytes_max` bytes wait
    # for the client already, it is closed with 1008.
    #
    # @param data [String] a text, sent as UTF-8; or, in the encoding BINARY, bytes
    # @return [Boolean] false when the client is closed, or closes now
    # @raise [ArgumentError] for an invalid text
    # @raise [TypeError] for an object that is not a String
    def write(data)
      raise TypeError, "a message must be a String, not #{data.class}" unless data.is_a?(String)

      bytes = MessageText.checked(data)
      send { @line.write(bytes) }
    end

    # Sends a server-sent event.
    #
    # @param data [String, #to_s, nil] text of any number of lines; nil: none
    # @param event [String, #to_s, nil] the event's name
    # @param id [String, #to_s, nil]
    # @param retry_ms [Integer, nil] the keyword is `retry:`; milliseconds before the client reconnects after the stream has ended
    # @return [Boolean] as for {#write}
    # @raise [Upwell::Error] when the client does not use server-sent events
    # @raise [ArgumentError] for a name or id of several lines, a negative retry
    def event(data, event: nil, id: nil, retry: nil)
      raise Error, "event is only for clients of server-sent events; send to a WebSocket client with write" unless @protocol == :sse

      milliseconds = binding.local_variable_get(:retry) # a keyword of the language
      event, id = [event, id].map { |value| MessageText.of(value) }
      text = EventStream.format(MessageText.of(data), event: event, id: id, retry: milliseconds && (milliseconds / 1000.0))
      send { @line.write_event(text) }
    end

    # Closes the connection once all written data has been sent. `on_close` is called when the connection has ended.
    #
    # @param code [Integer] of RFC 6455, section 7.4
    # @param reason [String] cut to 123 bytes at a character boundary
    # @return [nil]
    # @raise [ArgumentError] for a code that must not be sent
    def close(code = 1000, reason = "")
      CloseCode.check(code)
      end_with(code, CloseCode.reason(MessageText.of(reason)))
    end

    # @return [Boolean] whether the application can still write
    def open?
      @open
    end

    # @return [Integer] bytes that wait to be sent; -1 when closed
    def pending
      open? ? @line.behind : -1
    end

    # Replaces the handler. After the running callback, and before the client's next event, `on_close` of the old handler is called, then
    # `on_open` of the new one.
    #
    # @param handler [Object]
    def handler=(handler)
      return if @handler.equal?(handler)

      old = @handler
      take_handler(handler)
      @env["rack.upgrade"] = handler if @env.key?("rack.upgrade")
      [[old, :on_close], [handler, :on_open]].each { |object, name| @inbox.take_urgent { call(name, object) } } unless @ended
    end

    # @return [Float] seconds without data after which the client is pinged; 0: never
    def timeout
      @idle_timeout.seconds
    end

    # Sets the idle time-out.
    #
    # @param seconds [Numeric] counted from now on; 0: never
    # @raise [ArgumentError] for a negative number
    def timeout=(seconds)
      @idle_timeout.seconds = seconds
    end

    # Subscribes to a channel, or to all channels that match a pattern, until the client closes. Without a block the client gets the messages.
    #
    # @param channel [String, Symbol, #to_s] at most 1024 bytes; a pattern at most 255
    # @param is_pattern [Boolean] true means `match: :redis`
    # @param as [Symbol, nil] :text or :binary, the type of the sent messages; nil: the type in which they are published
    # @param match [Symbol, nil] :redis for a pattern with `* ? [a-c] [^x]` and the backslash
    # @param handler [#call, nil] in place of a block
    # @yieldparam channel [String]
    # @yieldparam message [String]
    # @return [Subscription, nil] nil: the client is closed
    # @raise [ArgumentError] for invalid options, or a name that is too long
    # @raise [Upwell::Error] when the client has 1024 subscriptions, or there are 1024 patterns
    def subscribe(channel, is_pattern = nil, as: nil, match: nil, handler: nil, &block)
      @subscriptions.add(channel.to_s, as, PubSub.match_of(is_pattern, match), block || handler)
    end

    # Ends the client's subscriptions with this name.
    #
    # @param channel [String, Symbol, #to_s]
    # @param is_pattern [Boolean, nil] true: only the pattern; false: only the channel; nil: both
    # @return [nil]
    def unsubscribe(channel, is_pattern = nil)
      @subscriptions.remove_named(channel.to_s, is_pattern)
    end

    # @return [Integer] the supported version of the draft for publish/subscribe
    def pubsub?
      PUBSUB_VERSION
    end

    # Publishes a message.
    #
    # @see Upwell.publish
    # @return [Boolean] whether the message was accepted
    def publish(channel, message, engine = nil)
      Upwell.publish(channel, message, engine)
    end

    # @!visibility private
    # Ends a subscription, see {Subscription#close}.
    def end_subscription(key)
      @subscriptions.remove(key)
    end

    # @return [String]
    def inspect
      "#<Upwell::Client #{@protocol} #{open? ? "open" : "closed"}>"
    end

    # The server uses the remaining methods.

    # Starts the client before the server's answer is sent: a subscription in `on_open` gets all messages published after the answer.
    #
    # @param line [Object] the connection
    def opened(line)
      @line = line
      @idle_timeout.begin
      @inbox.take(0) { call(:on_open) }
      note_written # the answer counts as written
    end

    # Handles a message.
    #
    # @param data [String]
    # @param bytes [Integer] its length
    def received(data, bytes)
      @idle_timeout.broken
      return unless @open

      taken = @inbox.take(bytes) { @handler.on_message(self, data) if @open && @handler.respond_to?(:on_message) }
      end_with(CloseCode::POLICY) unless taken
    end

    # Records a sign of life.
    def heard
      @idle_timeout.broken
    end

    # Handles the event that all written data has been sent.
    def drained
      @inbox.take_later { tell_drained } if @open
    end

    # Sends a published message. A client with too much unsent data does not get it.
    #
    # @param publication [Publication]
    # @param text [Boolean] whether it is sent as a text
    # @return [Boolean]
    def tell(publication, text)
      return false if !@open || @line.behind >= @bytes_max

      @line.publish(publication, text)
      note_written
      true
    end

    # Calls a subscription's block with a message.
    #
    # @param publication [Publication]
    # @param callable [#call]
    # @return [Boolean]
    def call_back(publication, callable)
      @inbox.take_published(publication.bytesize) { callable.call(publication.channel, publication.message) if @open }
    end

    # Closes the client because the server ends, after `on_shutdown`.
    def leave
      @inbox.take_later do
        call(:on_shutdown) if @open
        end_with(CloseCode::GOING_AWAY)
      end
    end

    # Stops events from the client. Events that wait are still handled.
    def leaves
      @open = false
      @inbox.drop_messages
      @subscriptions.clear
      @idle_timeout.end
    end

    # Handles the end of the connection.
    def gone
      return if @gone

      @gone = true
      leaves
      @inbox.take_later do
        @ended = true
        call(:on_close)
      end
      @inbox.take_later { @clients.forget(self) }
    end

    # Closes the connection once, with a code, after all written data.
    #
    # @param code [Integer]
    # @param reason [String]
    # @return [nil]
    def end_with(code, reason = "")
      return unless @open

      leaves
      @line.end(code, reason)
      nil
    end

    private

    def call(name, handler = @handler)
      handler.public_send(name, self) if handler.respond_to?(name)
    end

    # The check for `on_drained` runs once per handler.
    def take_handler(handler)
      @wants_drained = handler.respond_to?(:on_drained)
      @handler = handler
    end

    def send
      return false unless @open

      if @line.behind > @bytes_max
        end_with(CloseCode::POLICY)
        return false
      end
      yield
      note_written
      true
    end

    def note_written
      @idle_timeout.broken unless @line.answers?
      return if !@wants_drained || @drained_awaited

      @drained_awaited = true
      @line.await_drained
    end

    # The application may have written more before this event.
    def tell_drained
      @drained_awaited = false
      return unless @open

      @line.behind.zero? ? call(:on_drained) : note_written
    end

    # @param question [Boolean] whether a ping was sent already
    def miss(question)
      return @line.cut if question

      @line.ask
      @idle_timeout.broken unless @line.answers?
    end
  end
end
