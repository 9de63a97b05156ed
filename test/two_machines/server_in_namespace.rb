# frozen_string_literal: true

require_relative "../support/server_process"
require_relative "subscriber_client"

# A server of two workers in a network of its own, and its visitors, as many of each worker.
class ServerInNamespace
  APP = File.expand_path("app.ru", __dir__)
  WORKERS = 2
  VISITORS = 4 # of each worker

  # @yieldparam machine [ServerInNamespace]
  def self.open(namespace, redis)
    machine = new(namespace, redis)
    yield machine
  ensure
    machine&.close
  end

  # @return [ServerProcess]
  attr_reader :server
  # @return [Array<SubscriberClient>]
  attr_reader :visitors

  # @param namespace [NetworkNamespace]
  # @param redis [String] its address
  def initialize(namespace, redis)
    @namespace = namespace
    @visitors = []
    @server = inside { ServerProcess.new("-w", WORKERS.to_s, "--pubsub", "redis://#{redis}", app: APP) }
  end

  # Who is served by a worker that has enough goes again.
  def invite_visitors
    while @visitors.size < WORKERS * VISITORS
      visitor = inside { SubscriberClient.new(@server.port) }
      at_worker(visitor.worker).size < VISITORS ? @visitors << visitor : visitor.close_socket
    end
  end

  # @return [Array<SubscriberClient>] one of each worker
  def publishers
    @visitors.uniq(&:worker)
  end

  # @return [String]
  def page
    inside { RawClient.get(@server.port, "/").body }
  end

  # @return [Integer] lines that the server has printed
  def told(pattern)
    @server.lines.join.scan(pattern).size
  end

  # @return [Process::Status]
  def stop
    dismiss_visitors
    @server.stop
  end

  def close
    dismiss_visitors
    @server&.end_all
  end

  private

  def dismiss_visitors
    @visitors.each(&:close_socket)
  end

  def inside(&block)
    @namespace.inside(&block)
  end

  def at_worker(pid)
    @visitors.select { |visitor| visitor.worker == pid }
  end
end
