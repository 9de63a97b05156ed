# frozen_string_literal: true

require_relative "../signals/load_client"
require_relative "../support/raw_client"
require_relative "../support/server_process"

module Health
  # Stops a server as Kubernetes does. A probe asks for readiness, and clients connect. After SIGTERM they still connect, until the endpoint is
  # removed, some time after the first failed probe. No request fails.
  class EndpointRemoval
    APP = File.expand_path("../signals/app.ru", __dir__)
    READY = "/ready"
    DELAY = 3 # seconds, longer than a probe's period and the removal together
    PROBE_PERIOD = 0.2 # seconds
    REMOVED_AFTER = 1 # seconds after the first failed probe
    START_MAX = 600 # seconds for the requests before SIGTERM
    ANSWERS_AFTER_MIN = 1 # requests on new connections that were answered after SIGTERM

    # The endpoint has no address any more. A client ends then, as with a closed listener.
    Removed = Class.new(Errno::ECONNREFUSED)

    # @return [Signals::Account]
    attr_reader :account

    # @param clients [Integer]
    # @param requests [Integer] answered before SIGTERM
    # @param arguments [Array<String>] of the server
    # @param seed [Integer]
    def initialize(clients:, requests:, arguments:, seed:)
      @clients = clients
      @requests = requests
      @arguments = ["--ready-path", READY, "--drain-delay", DELAY.to_s, *arguments]
      @random = Random.new(seed)
      @account = Signals::Account.empty
      @refused = Queue.new
      @late_connections = Queue.new
    end

    # @return [self]
    def run
      ServerProcess.open(*@arguments, app: APP) do |server|
        server.read_on
        begin_load(server.port)
        @first_status = probe(server.port)
        @stopped = true
        server.signal("TERM")
        remove_endpoint(server.port)
        @threads.each { |thread| @account.add(thread.value) }
        @exit = server.await_end
        @log = server.lines.join
      end
      self
    end

    # @return [Array<String>] what went wrong
    def failures
      failures = account.lost + account.raced + Array.new(@refused.size) { "connection: #{@refused.pop}" }
      failures << "the first probe got #{@first_status}" unless @first_status == 200
      failures << "no client connected after SIGTERM" if @late_connections.size < ANSWERS_AFTER_MIN
      failures << "the server ended with #{@exit}: #{@log}" unless @exit.success?
      failures
    end

    private

    def begin_load(port)
      loaders = Array.new(@clients) do |number|
        Signals::LoadClient.new(-> { connect(port) }, Random.new(@random.rand(1 << 30)), pause: 0, kept: number.even?)
      end
      @threads = loaders.map { |client| Thread.new { client.run }.tap { |thread| thread.report_on_exception = false } }
      Timeout.timeout(START_MAX) { sleep 0.01 until loaders.sum { |client| client.account.answered } >= @requests }
    end

    def connect(port)
      raise Removed if @removed

      @late_connections << true if @stopped
      TCPSocket.new("127.0.0.1", port)
    rescue Removed
      raise
    rescue SystemCallError => e
      @refused << e.message
      raise Removed
    end

    def remove_endpoint(port)
      sleep PROBE_PERIOD until probe(port) == 503
      sleep REMOVED_AFTER
      @removed = true
    end

    def probe(port)
      RawClient.get(port, READY).status
    end
  end
end
