# backtick_javascript: true
# frozen_string_literal: true

require "upwell"
require "upwell/clients"
require "upwell/exchange"
require "upwell/log"
require "upwell/milliseconds"

module Upwell
  # Serves an application on the runtime that the program was compiled for, which has set {RUNTIME}.
  class Server
    GRACE_MS = 500 # for a request on its way on a kept connection as draining begins
    `const EXCHANGE = #{Exchange}` # a constant of Ruby is looked for each time

    # @return [Integer] requests begun whose responses are not complete
    attr_reader :in_flight
    # @return [Clients] those that stay
    attr_reader :clients
    # @return [Numeric] milliseconds, once draining has begun, after which what is idle is closed: of the time that there is a quarter at most
    attr_reader :grace_ms

    # @param app [#call]
    # @param options [Configuration]
    def initialize(app, options)
      @app = quick(app)
      @in_flight = 0
      @draining = false
      @grace_ms = Milliseconds.part(options.drain_timeout, GRACE_MS)
      @clients = Clients.new(options) { tell_idle }
      @clients.channels.begin
      @runtime = RUNTIME.new(self, options)
    end

    # @param address [Object] host, port, path, tls, shared
    # @yieldparam port [Integer, nil] nil when it cannot listen
    # @yieldparam error [String, nil] why not
    # @return [void]
    def listen(address, &told)
      @runtime.listen(address, &told)
    end

    # Accepts no more, closes what is idle, and finishes what is in flight.
    #
    # @yield when all is done
    # @return [void]
    def drain(&ended)
      @draining = true
      @clients.drain
      @runtime.drain { await_idle(&ended) }
    end

    # Reads the certificates again. Those that cannot be used leave the former ones in their place.
    #
    # @return [void]
    def renew
      @runtime.renew
    rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own
      Log.tell("the certificates cannot be read again, the former ones are used on: #{e.message}")
    end

    # @return [Boolean]
    def draining?
      @draining
    end

    # @param client [Object] the runtime's
    # @param env [Hash]
    # @param to_head [Boolean] whether the request is a HEAD
    # @return [void]
    def serve(client, env, to_head)
      `EXCHANGE.$new(self, self.runtime, client, env, to_head).$run(self.app)`
    end

    # A request takes longer than a turn of the runtime's loop.
    #
    # @return [void]
    def hold
      @in_flight += 1
    end

    # @return [void]
    def release
      @in_flight -= 1
      tell_idle
    end

    # @yield once nothing is in flight, and no client stays
    # @return [void]
    def await_idle(&idle)
      @idle = idle
      tell_idle
    end

    private

    # After this turn: what is done in it may begin something else, and the runtime has yet to send what was written.
    def tell_idle
      `setImmediate(() => #{end_idle})` if @idle
    end

    def end_idle
      return unless @idle && @in_flight.zero? && @clients.none?

      idle = @idle
      @idle = nil
      idle.call
    end

    # Proc#call takes any arguments and a block. A lambda that has no use for what it does with them is a method of JavaScript's as it is.
    def quick(app)
      `app.$$is_lambda && !app.$$ret && app.$call === Function.prototype.$call ? { $call: app } : app`
    end
  end
end
