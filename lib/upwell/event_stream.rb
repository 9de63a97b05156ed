# frozen_string_literal: true

module Upwell
  # Formats server-sent events and writes them to a Rack stream (WHATWG HTML, section 9.2). Browsers read them with EventSource.
  #
  #     body = proc do |stream|
  #       events = Upwell::EventStream.new(stream)
  #       events.event("it is #{Time.now}", event: "tick")
  #       events.close
  #     end
  #     [200, Upwell::EventStream::HEADERS.dup, body]
  class EventStream
    # Header fields of a response with such a body. The last field disables buffering in a proxy.
    HEADERS = { "content-type" => "text/event-stream", "cache-control" => "no-cache", "x-accel-buffering" => "no" }.freeze

    LINE_END = /\r\n|\r|\n/ # line ends of the client's parser
    NOT_IN_A_LINE = /[\r\n\0]/
    private_constant :LINE_END, :NOT_IN_A_LINE

    # Formats an event.
    #
    # @param data [#to_s, nil] text of any number of lines, whose line ends all reach the client as "\n"; nil: no data, so that the client
    #   stores `id` and `retry` but dispatches no event
    # @param event [#to_s, nil] the event's name, which selects the client's listeners; nil is "message"
    # @param id [#to_s, nil] the client's Last-Event-ID when it reconnects; nil keeps the previous one, "" clears it
    # @param retry [Numeric, nil] seconds before the client reconnects after the stream has ended; nil keeps the previous value
    # @return [String] in UTF-8
    # @raise [ArgumentError] when `event` or `id` contains a line end or NUL, a text cannot be converted to UTF-8, or `retry` is not a number
    #   of at least 0
    def self.format(data, event: nil, id: nil, retry: nil)
      seconds = binding.local_variable_get(:retry) # a keyword of the language
      text = +""
      text << "event: #{line(event, "the event's name")}\n" unless event.nil?
      text << "id: #{line(id, "the event's id")}\n" unless id.nil?
      text << "retry: #{milliseconds(seconds)}\n" unless seconds.nil?
      text << lines("data: ", data) unless data.nil?
      text << "\n"
    end

    # Formats a comment, which clients ignore. A comment after about 15 seconds without an event keeps proxies from closing the connection.
    #
    # @param text [#to_s] of any number of lines
    # @return [String] in UTF-8
    # @raise [ArgumentError] when the text cannot be converted to UTF-8
    def self.format_comment(text = "")
      "#{lines(":", text)}\n"
    end

    class << self
      private

      def lines(prefix, value)
        "#{prefix}#{utf8(value, "the text").gsub(LINE_END, "\n#{prefix}")}\n"
      end

      def line(value, what)
        text = utf8(value, what)
        raise ArgumentError, "#{what} is #{text.inspect}, but must be a single line without NUL" if text.match?(NOT_IN_A_LINE)

        text
      end

      # Binary strings are treated as UTF-8.
      def utf8(value, what)
        text = value.to_s
        text = text.encoding == Encoding::BINARY ? text.dup.force_encoding(Encoding::UTF_8) : text.encode(Encoding::UTF_8)
        raise ArgumentError, "#{what} is #{text.inspect}, which is not UTF-8; convert it, or encode it in Base64" unless text.valid_encoding?

        text
      rescue EncodingError => e
        raise ArgumentError, "#{what} is #{value.to_s.inspect}, which cannot be converted to UTF-8 (#{e.message}); encode it in Base64"
      end

      def milliseconds(seconds)
        return (seconds * 1000).round if seconds.is_a?(Numeric) && seconds.real? && seconds.finite? && seconds >= 0

        raise ArgumentError, "retry is #{seconds.inspect}, but must be a number of seconds, 0 or more"
      end
    end

    # @param stream [#write, #close] the stream of a Rack streaming body
    def initialize(stream)
      @stream = stream
    end

    # Writes an event.
    #
    # @param (see .format)
    # @return [self]
    # @raise (see .format)
    # @raise [IOError, SystemCallError] from the stream, when the client has disconnected
    def event(data, **fields)
      write(self.class.format(data, **fields))
    end

    # Writes a comment.
    #
    # @param (see .format_comment)
    # @return [self]
    # @raise (see .format_comment)
    # @raise [IOError, SystemCallError] from the stream, when the client has disconnected
    def comment(text = "")
      write(self.class.format_comment(text))
    end

    # Ends the stream. The client reconnects after each stream, until a response has status 204.
    #
    # @return [nil]
    def close
      @stream.close
      nil
    end

    private

    def write(text)
      @stream.write(text)
      self
    end
  end
end
