# frozen_string_literal: true

require_relative "../lib/load_run"
require_relative "../lib/request"
require_relative "workload_process"

module Bench
  module Io
    # Work inside one process, without a load generator: workloads/NAME.rb, run by measure_workload.rb.
    Task = Struct.new(:name, :title, :unit) do
      def group
        :scheduler
      end

      def connections
        [nil]
      end

      # @return [WorkloadProcess::Sample]
      def sample(candidate, _connections, seconds)
        WorkloadProcess.run(candidate.task_arguments(name, seconds), candidate.installation, seconds)
      end
    end

    # A server under wrk.
    #
    # @!attribute loads [Hash{Integer => Integer}] wrk's connections and their threads
    Service = Struct.new(:name, :title, :group, :loads) do
      def unit
        "requests"
      end

      def connections
        loads.keys
      end

      # @return [Sample]
      def sample(candidate, connections, seconds)
        LoadRun.new(candidate, self, connections).sample(seconds)
      end

      def wrk_threads(connections)
        loads.fetch(connections)
      end

      def app; end

      def request
        Request.new
      end

      # @return [String, nil] what is wrong with the answer
      def objection(response)
        "status #{response.code}, body #{response.body.inspect[0, 80]}" if [response.code, response.body] != ["200", "Hello, world!"]
      end
    end

    LOADS = { 10 => 2, 64 => 4, 256 => 8, 1024 => 8 }.freeze

    WORKLOADS = [
      Task.new("ping_pong", "Ping-pong through two pipes", "round trips"),
      Task.new("socket_pairs", "50 socket pairs, messages of 1 KB", "messages"),
      Task.new("sleepers", "10,000 sleepers", "sleeps"),
      Task.new("spawn", "Spawn of 1,000 fibers", "fibers"),
      Task.new("fan_out", "Fan-out of 100 HTTP requests", "requests"),
      Service.new("tcp_hello", "TCP hello, a fiber a connection", :scheduler, { 64 => 1, 1024 => 1 }),
      Service.new("http_loop", "HTTP on the loop", :loop, LOADS),
      Service.new("http_workers", "HTTP on the loop, four worker threads", :workers, LOADS),
      Service.new("walkthrough", "A request a connection: blocking, IO.select, epoll", :walkthrough, { 64 => 1 })
    ].freeze
  end
end
