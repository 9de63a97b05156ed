# backtick_javascript: true
# frozen_string_literal: true

require "upwell/milliseconds"
require "upwell/pile"

module Upwell
  # The content of a request while it arrives: bounded, and within a time that grows with it.
  class Upload
    BYTES_PER_SECOND = 1024 # at least, beyond the time-out

    # @param options [Configuration]
    # @yieldparam status [Integer] the client sends too much (413) or too slowly (408)
    def initialize(options, &refused)
      @bytes_max = options.body_bytes_max
      @timeout = options.body_timeout
      @refused = refused
      @pile = Pile.new
      @ended = false
      @begun = `performance.now()`
      await_more
    end

    # @param chunk [JavaScript Uint8Array] which stays as it is
    # @return [void]
    def add(chunk)
      return if @ended

      @pile.add(chunk)
      refuse(413) if @pile.size > @bytes_max
    end

    # @return [JavaScript Uint8Array] all of it
    def finish
      stop
      @pile.all
    end

    # @return [void]
    def stop
      @ended = true
      `clearTimeout(self.timer)`
    end

    # @return [Boolean] whether nothing more is of interest
    def ended?
      @ended
    end

    private

    def await_more
      seconds = left
      return refuse(408) unless seconds.positive?

      milliseconds = Milliseconds.of(seconds)
      `self.timer = setTimeout(() => #{await_more}, milliseconds)`
    end

    def left
      @timeout + (@pile.size / BYTES_PER_SECOND) - (`(performance.now() - self.begun) / 1000`)
    end

    def refuse(status)
      stop
      @refused.call(status)
    end
  end
end
