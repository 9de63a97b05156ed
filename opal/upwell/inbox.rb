# backtick_javascript: true
# frozen_string_literal: true

require "upwell/error_log"
require "upwell/thrown"

module Upwell
  # What happens to a client, told to its handler one after another: never amid another callback, and where one gives back a promise, not until
  # that is settled.
  class Inbox
    PUBLISHED_MAX = 1024 # that wait for a block
    PUBLISHED_BYTES_MAX = 1 << 20
    WAITING_BYTES_MAX = 16 << 20 # of all that waits
    MESSAGE_BYTES = 512 # that a message costs besides its own: an empty one takes room, too

    # @param env [Hash, nil] of whom it is about, for the log
    # @yield when a callback has failed
    def initialize(env, &failed)
      @env = env
      @failed = failed
      @busy = @planned = false
      @first = @last = nil # events, each of which knows the one after it
      forget_counts
    end

    # Has it told now, if nothing else is being told.
    #
    # @param bytes [Integer] that it holds
    # @return [Boolean] false: too much waits already
    def take(bytes, &event)
      size = bytes + MESSAGE_BYTES
      return false if @bytes.positive? && @bytes + size > WAITING_BYTES_MAX # a single one may be as large as any

      @bytes += size
      add(event, size)
      work unless @busy || @planned
      true
    end

    # Has it told in a turn of its own: who causes it goes on first. There is no limit: of what is told so each may wait but once.
    def take_later(&event)
      add(event, 0)
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
      add(event, 0)
      `event.$$published = bytes`
      plan
      true
    end

    # Messages that wait are not told any more.
    def drop_messages
      %x{
        let event = self.first;

        self.first = self.last = nil;
        for (let next; event !== nil; event = next) {
          next = event.$$next;
          if (event.$$bytes === 0 && event.$$published === undefined) #{add(`event`, 0)};
        }
      }
      forget_counts
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
        while (self.first !== nil) {
          const event = #{take_first};
          let result;

          try { result = event(); } catch (thrown) { #{fail(`thrown`)}; }
          if (result instanceof Promise) return #{await(`result`)};
        }
      }
      @busy = false
    end

    def add(event, bytes)
      %x{
        event.$$bytes = bytes;
        event.$$next = nil;
        if (self.last === nil) self.first = event;
        else self.last.$$next = event;
        self.last = event;
      }
    end

    def take_first
      %x{
        const event = self.first;

        self.first = event.$$next;
        if (self.first === nil) self.last = nil;
        self.bytes -= event.$$bytes;
        if (event.$$published !== undefined) {
          self.published--;
          self.published_bytes -= event.$$published;
        }
        return event;
      }
    end

    def forget_counts
      @bytes = @published = @published_bytes = 0
    end

    def await(promise)
      `promise.catch(reason => #{fail(`reason`)}).then(() => #{work})`
    end

    def fail(thrown)
      ErrorLog.report(Thrown.error(thrown), @env)
      @failed.call
    end
  end
end
