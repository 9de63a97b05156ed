# backtick_javascript: true
# frozen_string_literal: true

require "upwell/error_log"

module Upwell
  # What happens to a client, told to its handler one after another: never amid another callback, and where one gives back a promise, not until
  # that is settled.
  class Inbox
    PUBLISHED_MAX = 1024 # that wait for a block
    PUBLISHED_BYTES_MAX = 1 << 20
    WAITING_BYTES_MAX = 16 << 20 # of all that waits

    # @param env [Hash, nil] of whom it is about, for the log
    # @yield when a callback has failed
    def initialize(env, &failed)
      @env = env
      @failed = failed
      @waiting = `[]`
      @bytes = @published = @published_bytes = 0
      @busy = @planned = false
    end

    # Has it told now, if nothing else is being told.
    #
    # @param bytes [Integer] that it holds
    # @return [Boolean] false: too much waits already
    def take(bytes, &event)
      return false if `self.bytes > 0 && self.bytes + bytes > #{WAITING_BYTES_MAX}`

      @bytes += bytes
      `event.$$bytes = bytes`
      `self.waiting.push(event)`
      work unless @busy || @planned
      true
    end

    # Has it told in a turn of its own: who causes it goes on first.
    def take_later(&event)
      `event.$$bytes = 0`
      `self.waiting.push(event)`
      plan
    end

    # The same for a message that was published.
    #
    # @param bytes [Integer] of the message
    # @return [Boolean] false: too many wait
    def take_published(bytes, &event)
      return false if @published >= PUBLISHED_MAX || (@published.positive? && @published_bytes + bytes > PUBLISHED_BYTES_MAX)

      @published += 1
      @published_bytes += bytes
      take_later do
        @published -= 1
        @published_bytes -= bytes
        event.call
      end
      true
    end

    private

    def plan
      return if @busy || @planned

      @planned = true
      %x{
        setImmediate(() => {
          self.planned = false;
          #{work};
        });
      }
    end

    def work
      @busy = true
      %x{
        while (self.waiting.length > 0) {
          const event = self.waiting.shift();
          let result;

          self.bytes -= event.$$bytes;
          try { result = event(); } catch (thrown) { #{fail(`thrown`)}; }
          if (result instanceof Promise) return #{await(`result`)};
        }
      }
      @busy = false
    end

    def await(promise)
      `promise.catch(reason => #{fail(`reason`)}).then(() => #{work})`
    end

    # JavaScript may throw anything.
    def fail(thrown)
      ErrorLog.report(`thrown instanceof Error` ? thrown : RuntimeError.new("#{`String(thrown)`} was thrown"), @env)
      @failed.call
    end
  end
end
