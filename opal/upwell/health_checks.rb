# frozen_string_literal: true

module Upwell
  # Answers health checks before the application.
  class HealthChecks
    METHODS = %w[GET HEAD].freeze
    OK = "ok\n"
    DRAINING = "draining\n"

    # @param options [Configuration]
    # @return [Boolean]
    def self.wanted?(options)
      !(options.health_path || options.ready_path).nil?
    end

    # @param app [#call]
    # @param server [Server]
    # @param options [Configuration]
    def initialize(app, server, options)
      @app = app
      @server = server
      @health_path = options.health_path
      @ready_path = options.ready_path
    end

    # @param env [Hash]
    # @return [Array] the response
    def call(env)
      return @app.call(env) unless METHODS.include?(env["REQUEST_METHOD"])

      case env["PATH_INFO"]
      when @health_path then answer(200, OK)
      when @ready_path then @server.drain_announced? ? answer(503, DRAINING) : answer(200, OK)
      else @app.call(env)
      end
    end

    private

    def answer(status, text)
      [status, { "content-type" => "text/plain", "cache-control" => "no-store" }, [text]]
    end
  end
end
