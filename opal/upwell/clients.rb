# backtick_javascript: true
# frozen_string_literal: true

require "upwell/channels"
require "upwell/client"
require "upwell/client/event_stream_line"
require "upwell/milliseconds"

module Upwell
  # The clients that stay with this server.
  class Clients
    # @return [Channels]
    attr_reader :channels
    # @return [Integer] that may be on their way to one of them
    attr_reader :bytes_max
    # @return [Numeric] seconds after which one is asked whether it is there
    attr_reader :silence

    # @param options [Configuration]
    # @yield when one has ended
    def initialize(options, &ended)
      @ended = ended
      @bytes_max = options.client_bytes_max
      @silence = options.client_timeout
      @leaving_ms = Milliseconds.of(options.drain_timeout / 2)
      @channels = Channels.new
      @all = `new Set()`
    end

    # A request is answered by letting its client stay.
    #
    # @param runtime [Object]
    # @param response [Object] the runtime's
    # @param env [Hash] of the request, with the handler
    # @param head [Head]
    def begin(runtime, response, env, head)
      kind = env["rack.upgrade?"]
      client = Client.new(self, kind, env, env["rack.upgrade"])
      `self.all.add(client)`
      accept(kind, runtime, response, client, head)
      leave(client) if @draining
    rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own
      forget(client)
      raise e
    end

    # @param client [Client] has ended
    def forget(client)
      `self.all.delete(client)`
      @ended.call
    end

    # @return [Boolean] whether there is no client
    def none?
      `self.all.size === 0`
    end

    # They leave spread over half of the time there is, so that they do not all come back at once.
    def drain
      @draining = true
      `self.all.forEach(client => #{leave(`client`)})`
    end

    private

    def accept(kind, runtime, response, client, head)
      return runtime.accept(response, head, client) if kind == :websocket

      runtime.begin(response, head)
      Client::EventStreamLine.new(runtime, response, client).begin
    end

    def leave(client)
      `setTimeout(() => #{client.leave}, Math.random() * self.leaving_ms)`
    end
  end
end
