# frozen_string_literal: true

module Upwell
  # Server-sent events for a body that streams: formats them, and writes them to a Rack stream. Browsers read them by EventSource.
  #
  #     body = proc do |stream|
  #       events = Upwell::EventStream.new(stream)
  #       events.event("it is #{Time.now}", event: "tick")
  #       events.close
  #     end
  #     [200, Upwell::EventStream::HEADERS.dup, body]
  class EventStream
    # Of a response whose body is such a stream. The last keeps a proxy from gathering events before it passes them on.
    HEADERS = { "content-type" => "text/event-stream", "cache-control" => "no-cache", "x-accel-buffering" => "no" }.freeze

    LINE_END = /\r\n|\r|\n/ # as clients see it
    NOT_IN_A_LINE = /[\r\n\0]/
    private_constant :LINE_END, :NOT_IN_A_LINE

    # An event as it is sent.
    #
    # @param data [#to_s, nil] text of any number of lines, whose ends are all "\n" to the client; nil: none, so that the client notes `id` and
    #   `retry` but tells nobody
    # @param event [#to_s, nil] its name, which chooses the client's listeners; nil is "message"
    # @param id [#to_s, nil] what the client sends as Last-Event-ID when it comes back; nil leaves the one before, "" forgets it
    # @param retry [Numeric, nil] seconds after which the client comes back to a stream that has ended; nil leaves it as it was
    # @return [String] in UTF-8
    # @raise [ArgumentError] when `event` or `id` holds a line's end or NUL, a text is not to be had in UTF-8, or `retry` is no number from 0
    #   on
    def self.format(data, event: nil, id: nil, retry: nil)
      seconds = binding.local_variable_get(:retry) # a word of the language's, too
      text = +""
      text << "event: #{line(event, "the event's name")}\n" unless event.nil?
      text << "id: #{line(id, "the event's id")}\n" unless id.nil?
      text << "retry: #{milliseconds(seconds)}\n" unless seconds.nil?
      text << lines("data: ", data) unless data.nil?
      text << "\n"
    end

    # A comment as it is sent. Clients ignore it; one after about 15 seconds without an event keeps proxies from taking the connection for dead.
    #
    # @param text [#to_s] of any number of lines
    # @return [String] in UTF-8
    # @raise [ArgumentError] when the text is not to be had in UTF-8
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

      # What is binary is taken for UTF-8.
      def utf8(value, what)
        text = value.to_s
        text = text.encoding == Encoding::BINARY ? text.dup.force_encoding(Encoding::UTF_8) : text.encode(Encoding::UTF_8)
        raise ArgumentError, "#{what} is #{text.inspect}, which is not UTF-8" unless text.valid_encoding?

        text
      rescue EncodingError => e
        raise ArgumentError, "#{what} is #{value.to_s.inspect}, which is not to be had in UTF-8: #{e.message}"
      end

      def milliseconds(seconds)
        return (seconds * 1000).round if seconds.is_a?(Numeric) && seconds.real? && seconds.finite? && seconds >= 0

        raise ArgumentError, "retry is #{seconds.inspect}, but must be a number of seconds from 0 on"
      end
    end

    # @param stream [#write, #close] what a Rack server gives to a streaming body
    def initialize(stream)
      @stream = stream
    end

    # Writes an event.
    #
    # @param (see .format)
    # @return [self]
    # @raise (see .format)
    # @raise [IOError, SystemCallError] as the stream does, when the client is gone
    def event(data, **fields)
      write(self.class.format(data, **fields))
    end

    # Writes a comment.
    #
    # @param (see .format_comment)
    # @return [self]
    # @raise (see .format_comment)
    # @raise [IOError, SystemCallError] as the stream does, when the client is gone
    def comment(text = "")
      write(self.class.format_comment(text))
    end

    # Ends the stream. The client comes back by itself, as it does whenever a stream has ended, until it is answered with 204.
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
