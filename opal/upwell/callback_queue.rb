# backtick_javascript: true
# frozen_string_literal: true

require "upwell/exception_log"
require "upwell/js_error"

module Upwell
  # Runs a client's callbacks one after another. If a callback returns a promise, the next one waits until the promise is settled.
  class CallbackQueue
    PUBLISHED_MAX = 1024 # messages that wait for a block
    PUBLISHED_BYTES_MAX = 1 << 20
    WAITING_BYTES_MAX = 16 << 20 # of all waiting events
    MESSAGE_BYTES = 512 # counted in addition to each message: an empty one takes memory, too

    # @param env [Hash, nil] the client's env, for the log
    # @yield when a callback has failed
    def initialize(env, &failed)
      @env = env
      @failed = failed
      @busy = @planned = false
      @urgent = []
      @first = @last = nil # a linked list of events
      forget_counts
    end

    # Runs the event now, unless another one runs.
    #
    # @param bytes [Integer] the size of its data
    # @return [Boolean] false: too many bytes wait already
    def take(bytes, &event)
      size = bytes + MESSAGE_BYTES
      return false if @bytes.positive? && @bytes + size > WAITING_BYTES_MAX # a single event may have any size

      @bytes += size
      add(event, size)
      work unless @busy || @planned
      true
    end

    # Runs the event in a later iteration, after its caller has returned. There is no limit, since each kind of these events occurs once.
    def take_later(&event)
      add(event, 0)
      plan
    end

    # Runs the event before all waiting ones, except earlier urgent ones.
    def take_urgent(&event)
      @urgent << event
      plan
    end

    # Runs the event of a published message later.
    #
    # @param bytes [Integer] of the message
    # @return [Boolean] false: too many messages wait
    def take_published(bytes, &event)
      return false if @published >= PUBLISHED_MAX || (@published.positive? && @published_bytes + bytes > PUBLISHED_BYTES_MAX)

      @published += 1
      @published_bytes += bytes
      add(event, 0)
      `event.$$published = bytes`
      plan
      true
    end

    # Drops the messages that wait.
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
        while (self.urgent.length > 0 || self.first !== nil) {
          const event = self.urgent.shift() || #{take_first};
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
      ExceptionLog.report(JsError.error(thrown), @env)
      @failed.call
    end
  end
end
