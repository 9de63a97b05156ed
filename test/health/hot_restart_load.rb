# frozen_string_literal: true

require_relative "../signals/load_client"
require_relative "../support/server_process"
require_relative "../support/socket_activation"

module Health
  # Restarts a server by SIGUSR2 under load, several times. No request fails, and no connection.
  class HotRestartLoad
    APP = File.expand_path("../signals/app.ru", __dir__)
    START_MAX = 600 # seconds for the requests

    # The load is over. A client ends then, as with a closed listener.
    Over = Class.new(Errno::ECONNREFUSED)

    # @return [Signals::Account]
    attr_reader :account
    # @return [Integer]
    attr_reader :restarts

    # @param clients [Integer]
    # @param requests [Integer] answered around the restarts
    # @param restarts [Integer]
    # @param activated [Boolean] whether the service manager has opened the sockets
    # @param arguments [Array<String>] of the server
    # @param seed [Integer]
    def initialize(clients:, requests:, restarts:, activated:, arguments:, seed:)
      @clients = clients
      @requests = requests
      @planned = restarts
      @restarts = 0
      @activated = activated
      @arguments = arguments
      @random = Random.new(seed)
      @account = Signals::Account.empty
      @refused = Queue.new
    end

    # @return [self]
    def run
      socket = SocketActivation.tcp if @activated
      options = socket ? SocketActivation.options([socket]) : {}
      ServerProcess.open(*@arguments, app: APP, **options) { |server| restart_under_load(server, socket) }
      self
    ensure
      socket&.close
    end

    # @return [Array<String>] what went wrong
    def failures
      failures = account.lost + account.raced + Array.new(@refused.size) { "connection: #{@refused.pop}" }
      failures << "only #{restarts} of #{@planned} restarts" if restarts < @planned
      failures << "the first server ended with #{@exit}" unless @exit.success?
      failures
    end

    private

    def restart_under_load(server, socket)
      server.read_on
      begin_load(socket ? SocketActivation.port(socket) : server.port)
      pid = server.pid
      @planned.times do |number|
        await_answers(@requests * (number + 1) / (@planned + 1))
        pid = restart(server, pid)
      end
      await_answers(@requests)
      @over = true
      Process.kill("TERM", pid) # clients on a kept connection end, too
      @threads.each { |thread| @account.add(thread.value) }
      @exit = server.await_end
    end

    # @return [Integer] the process id of the new server
    def restart(server, old)
      Process.kill("USR2", old)
      pattern = /upwell\[#{old}\]: the new server \(process (\d+)\) serves/
      sleep 0.01 until server.lines.join[pattern]
      sleep 0.01 until server.lines.join.scan(/^Upwell .* serves on/).size > @restarts
      @restarts += 1
      server.lines.join[pattern, 1].to_i
    end

    def begin_load(port)
      @loaders = Array.new(@clients) do |number|
        Signals::LoadClient.new(-> { connect(port) }, Random.new(@random.rand(1 << 30)), pause: 0, kept: number.even?)
      end
      @threads = @loaders.map { |client| Thread.new { client.run }.tap { |thread| thread.report_on_exception = false } }
    end

    def await_answers(count)
      Timeout.timeout(START_MAX) { sleep 0.01 until @loaders.sum { |client| client.account.answered } >= count }
    end

    def connect(port)
      raise Over if @over

      TCPSocket.new("127.0.0.1", port)
    rescue Over
      raise
    rescue SystemCallError => e
      @refused << e.message
      raise Over
    end
  end
end
