# backtick_javascript: true
# frozen_string_literal: true

require "upwell/timer_milliseconds"
require "upwell/byte_queue"

module Upwell
  # Receives the content of a request, with limits on its size and on its time, which grows with the size.
  class RequestBodyReceiver
    BYTES_PER_SECOND = 1024 # the minimum, after the time-out

    # @param options [Configuration]
    # @yieldparam status [Integer] the client sends too much (413) or too slowly (408)
    def initialize(options, &refused)
      @bytes_max = options.body_bytes_max
      @timeout = options.body_timeout
      @refused = refused
      @queue = ByteQueue.new
      @ended = false
      @begun = `performance.now()`
      await_more
    end

    # Adds a chunk.
    #
    # @param chunk [JavaScript Uint8Array] must not change afterwards
    # @return [void]
    def add(chunk)
      return if @ended

      @queue.add(chunk)
      refuse(413) if @queue.size > @bytes_max
    end

    # @return [JavaScript Uint8Array] the content
    def finish
      stop
      @queue.all
    end

    # @return [void]
    def stop
      @ended = true
      `clearTimeout(self.timer)`
    end

    # @return [Boolean] whether further content is ignored
    def ended?
      @ended
    end

    private

    def await_more
      seconds = left
      return refuse(408) unless seconds.positive?

      milliseconds = TimerMilliseconds.of(seconds)
      `self.timer = setTimeout(() => #{await_more}, milliseconds)`
    end

    def left
      @timeout + (@queue.size / BYTES_PER_SECOND) - (`(performance.now() - self.begun) / 1000`)
    end

    def refuse(status)
      stop
      @refused.call(status)
    end
  end
end
