# backtick_javascript: true
# frozen_string_literal: true

require "upwell/channels"
require "upwell/client"
require "upwell/client/event_stream_connection"
require "upwell/timer_milliseconds"

module Upwell
  # The long-lived clients of this server.
  class ClientRegistry
    AT_ONCE_MAX = 100 # clients close at once when the server drains; further closes are spread

    # @return [Channels]
    attr_reader :channels
    # @return [Integer] the limit of bytes that wait for one client
    attr_reader :bytes_max
    # @return [Numeric] seconds without data after which a client is pinged
    attr_reader :idle_timeout

    # @param options [Configuration]
    # @yield when a client has ended
    def initialize(options, &ended)
      @ended = ended
      @bytes_max = options.client_bytes_max
      @idle_timeout = options.client_timeout
      @leaving_ms = TimerMilliseconds.of(options.drain_timeout / 2)
      @channels = Channels.new
      @all = `new Set()`
    end

    # Answers a request whose client becomes a long-lived one.
    #
    # @param runtime [Object]
    # @param response [Object] the runtime's
    # @param env [Hash] of the request, including the handler
    # @param head [ResponseHead]
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

    # Removes a client that has ended.
    #
    # @param client [Client]
    def forget(client)
      `self.all.delete(client)`
      @ended.call
    end

    # @return [Integer]
    def size
      `self.all.size`
    end

    # @return [Boolean] whether there is no client
    def none?
      size.zero?
    end

    # If there are many clients, their closes are spread over half of the drain time, so that they do not all reconnect at once.
    def drain
      @draining = true
      @leaving_ms = 0 if size <= AT_ONCE_MAX
      `self.all.forEach(client => #{leave(`client`)})`
    end

    private

    def accept(kind, runtime, response, client, head)
      return runtime.accept(response, head, client) if kind == :websocket

      runtime.hold_back(response) do
        runtime.begin(response, head)
        Client::EventStreamConnection.new(runtime, response, client).begin
      end
    end

    def leave(client)
      `setTimeout(() => #{client.leave}, Math.random() * self.leaving_ms)`
    end
  end
end
