# backtick_javascript: true
# frozen_string_literal: true

require "upwell/client/close"
require "upwell/client/silence"
require "upwell/client/subscriptions"
require "upwell/event_stream"
require "upwell/inbox"
require "upwell/text"

module Upwell
  # A client that stays after its request, by WebSocket or server-sent events, and whom the application writes to when it likes: what the
  # callbacks of the handler in `env["rack.upgrade"]` are called with. The same as on MRI.
  #
  # Its line is how it is talked to: `write(text_or_bytes)`, `publish(publication, text)`, `behind`, `ask`, `answers?`, `end(code, reason)`,
  # `cut`, and `await_drained`, which calls {#drained}.
  class Client
    # @return [Hash] of the request by which the client came
    attr_reader :env
    # @return [Object] whose callbacks are called
    attr_reader :handler
    # @!visibility private
    attr_reader :bytes_max

    # @param clients [Clients]
    # @param kind [Symbol] :websocket or :sse
    # @param env [Hash]
    # @param handler [Object]
    def initialize(clients, kind, env, handler)
      @clients = clients
      @kind = kind
      @env = env
      @bytes_max = clients.bytes_max
      @inbox = Inbox.new(env) { end_with(Close::FAILED) }
      @subscriptions = Subscriptions.new(self, clients.channels)
      @silence = Silence.new(clients.silence) { |question| miss(question) }
      @open = true
      @drained_awaited = false
      self.handler = handler
    end

    # Sends a message; of a client of server-sent events, the data of an event. Nobody waits for the client: where more than
    # `client_bytes_max` bytes are on their way to it already, it is closed with 1008.
    #
    # @param data [String, #to_s] a text, sent as UTF-8; or, in the encoding BINARY, bytes
    # @return [Boolean] false when the client is closed, or is now
    # @raise [ArgumentError] for a text that is not valid
    def write(data)
      bytes = Text.checked(data)
      send { @line.write(bytes) }
    end

    # Sends a server-sent event.
    #
    # @param data [String, #to_s, nil] text of any number of lines; nil: none
    # @param event [String, #to_s, nil] its name
    # @param id [String, #to_s, nil]
    # @param retry_ms [Integer, nil] given as `retry:`: milliseconds after which it comes back to a stream that has ended
    # @return [Boolean] as {#write} does
    # @raise [Upwell::Error] when it is no client of server-sent events
    # @raise [ArgumentError] for a name or id of several lines, a negative retry
    def event(data, event: nil, id: nil, retry: nil)
      raise Error, "only a client of server-sent events has events" unless @kind == :sse

      milliseconds = binding.local_variable_get(:retry) # a word of the language's, too
      text = EventStream.format(Text.of(data), event: Text.of(event), id: Text.of(id), retry: milliseconds && (milliseconds / 1000.0))
      send { @line.write_event(text) }
    end

    # Ends the connection once what was written has been sent; `on_close` comes when it has ended.
    #
    # @param code [Integer] of RFC 6455, section 7.4
    # @param reason [String] of a longer one the first 123 bytes, as far as these are whole characters
    # @return [nil]
    # @raise [ArgumentError] for a code that must not be sent
    def close(code = 1000, reason = "")
      Close.check(code)
      end_with(code, Close.reason(Text.of(reason)))
    end

    # @return [Boolean] whether something may still be written
    def open?
      @open
    end

    # @return [Integer] bytes that were written and have not been sent yet; -1 when closed
    def pending
      open? ? @line.behind : -1
    end

    # @param handler [Object] whose callbacks are called from the next event on
    def handler=(handler)
      @wants_drained = handler.respond_to?(:on_drained)
      @handler = handler
    end

    # @return [Float] seconds of silence after which it is asked whether the client is there; 0: never
    def timeout
      @silence.seconds
    end

    # @param seconds [Numeric] from now on; 0: never
    # @raise [ArgumentError] for a negative number
    def timeout=(seconds)
      @silence.seconds = seconds
    end

    # Subscribes to a channel, or to all whose names match a pattern, until it is closed. Without a block the messages are sent to the client
    # as they are.
    #
    # @param channel [String, Symbol, #to_s] of at most 1024 bytes; a pattern of at most 255
    # @param as [Symbol, nil] :text or :binary, what the messages are sent as; nil: what their publisher has them
    # @param match [Symbol, nil] :redis for a pattern with `* ? [a-c] [^x]` and the backslash
    # @param handler [#call, nil] in the place of a block
    # @yieldparam channel [String]
    # @yieldparam message [String]
    # @return [Subscription]
    # @raise [ArgumentError] for options that are none, or too long a name
    # @raise [Upwell::Error] when the client has 1024 subscriptions, or there are 1024 patterns
    def subscribe(channel, as: nil, match: nil, handler: nil, &block)
      @subscriptions.add(channel.to_s, as, match, block || handler)
    end

    # Ends all subscriptions of the client to channels and patterns of that name.
    #
    # @param channel [String, Symbol, #to_s]
    # @return [nil]
    def unsubscribe(channel)
      @subscriptions.remove_named(channel.to_s)
    end

    # @see Upwell.publish
    # @return [Boolean] whether it is on its way
    def publish(channel, message, engine = nil)
      Upwell.publish(channel, message, engine)
    end

    # @!visibility private
    # For {Subscription#close}.
    def end_subscription(key)
      @subscriptions.remove(key)
    end

    # @return [String]
    def inspect
      "#<Upwell::Client #{@kind} #{open? ? "open" : "closed"}>"
    end

    # The rest is for the server.

    # @param line [Object] by which it is talked to from now on
    def opened(line)
      @line = line
      @silence.begin
      @inbox.take_later { call(:on_open) }
      note_written # the acceptance
    end

    # @param data [String]
    # @param bytes [Integer] its length
    def received(data, bytes)
      @silence.broken
      return unless @open

      taken = @inbox.take(bytes) { @handler.on_message(self, data) if @open && @handler.respond_to?(:on_message) }
      end_with(Close::POLICY) unless taken
    end

    # It has shown that it is there.
    def heard
      @silence.broken
    end

    # All that was written has been sent.
    def drained
      @inbox.take_later { tell_drained } if @open
    end

    # What others have published, in a channel of its own. Of a client that is behind it is dropped.
    #
    # @param publication [Publication]
    # @param text [Boolean] what it is sent as
    # @return [Boolean]
    def tell(publication, text)
      return false if !@open || @line.behind >= @bytes_max

      @line.publish(publication, text)
      note_written
      true
    end

    # @param publication [Publication]
    # @param callable [#call]
    # @return [Boolean]
    def call_back(publication, callable)
      @inbox.take_published(publication.bytesize) { callable.call(publication.channel, publication.message) if @open }
    end

    # The server ends: the last words, then the end.
    def leave
      @inbox.take_later do
        call(:on_shutdown) if @open
        end_with(Close::GOING_AWAY)
      end
    end

    # What it has said is served yet; it hears nothing more.
    def leaves
      @open = false
      @inbox.drop_messages
      @subscriptions.clear
      @silence.end
    end

    # The connection has ended.
    def gone
      return if @gone

      @gone = true
      leaves
      @inbox.take_later { call(:on_close) }
      @inbox.take_later { @clients.forget(self) }
    end

    # Ends it once: with a code, after what was written.
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

    def call(name)
      @handler.public_send(name, self) if @handler.respond_to?(name)
    end

    def send
      return false unless @open

      if @line.behind > @bytes_max
        end_with(Close::POLICY)
        return false
      end
      yield
      note_written
      true
    end

    def note_written
      @silence.broken unless @line.answers?
      return if !@wants_drained || @drained_awaited

      @drained_awaited = true
      @line.await_drained
    end

    # More may have been written while this waited.
    def tell_drained
      @drained_awaited = false
      return unless @open

      @line.behind.zero? ? call(:on_drained) : note_written
    end

    # @param question [Boolean] whether it has been asked already
    def miss(question)
      return @line.cut if question

      @line.ask
      @silence.broken unless @line.answers?
    end
  end
end
