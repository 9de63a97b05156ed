# backtick_javascript: true
# frozen_string_literal: true

require "upwell"
require "upwell/client_registry"
require "upwell/exchange"
require "upwell/log"
require "upwell/timer_milliseconds"

module Upwell
  # Serves an application on the runtime of the program, which has set {RUNTIME}.
  class Server
    GRACE_MS = 500 # for a request in transit on a keep-alive connection when draining begins
    `const EXCHANGE = #{Exchange}` # a Ruby constant would be looked up each time

    # @return [Integer] requests whose responses are not complete
    attr_reader :in_flight
    # @return [ClientRegistry] the long-lived clients
    attr_reader :clients
    # @return [Numeric] milliseconds from the start of draining until idle connections are closed: at most a quarter of the drain time
    attr_reader :grace_ms

    # @param app [#call]
    # @param options [Configuration]
    def initialize(app, options)
      @app = quick(app)
      @in_flight = 0
      @draining = false
      @grace_ms = TimerMilliseconds.part(options.drain_timeout, GRACE_MS)
      @clients = ClientRegistry.new(options) { tell_idle }
      @clients.channels.begin
      @runtime = RUNTIME.new(self, options)
    end

    # Listens on an address.
    #
    # @param address [Object] host, port, path, tls, shared
    # @yieldparam port [Integer, nil] nil when the address cannot be listened on
    # @yieldparam error [String, nil] the reason
    # @return [void]
    def listen(address, &told)
      @runtime.listen(address, &told)
    end

    # Accepts no more clients, closes idle connections, and finishes the requests in flight.
    #
    # @yield when all requests are finished
    # @return [void]
    def drain(&ended)
      @draining = true
      @clients.drain
      @runtime.drain { await_idle(&ended) }
    end

    # Reloads the certificates. Invalid ones are ignored, and the old ones remain in use.
    #
    # @return [void]
    def renew
      @runtime.renew
    rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own
      Log.tell("the server keeps the old certificates, because the new ones cannot be used: #{e.message}; then send SIGHUP")
    end

    # @return [Boolean]
    def draining?
      @draining
    end

    # Serves a request.
    #
    # @param client [Object] the runtime's
    # @param env [Hash]
    # @param to_head [Boolean] whether the request is a HEAD
    # @return [void]
    def serve(client, env, to_head)
      `EXCHANGE.$new(self, self.runtime, client, env, to_head).$run(self.app)`
    end

    # Counts a request that takes longer than an iteration of the runtime's loop.
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

    # Waits until the server is idle.
    #
    # @yield once no request is in flight and no long-lived client is left
    # @return [void]
    def await_idle(&idle)
      @idle = idle
      tell_idle
    end

    private

    # The check runs after this iteration: other code may start new work, and the runtime still has to send written data.
    def tell_idle
      `setImmediate(() => #{end_idle})` if @idle
    end

    def end_idle
      return unless @idle && @in_flight.zero? && @clients.none?

      idle = @idle
      @idle = nil
      idle.call
    end

    # Proc#call supports any arguments and a block. A lambda with plain parameters is called directly as a JavaScript function.
    def quick(app)
      `app.$$is_lambda && !app.$$ret && app.$call === Function.prototype.$call ? { $call: app } : app`
    end
  end
end
