# frozen_string_literal: true

require "forwardable"
require_relative "../lib/request"
require_relative "requests_beside_clients"
require_relative "candidates"
require_relative "client_that_never_reads"
require_relative "load_generator_process"
require_relative "idle_clients"
require_relative "load_run"

module Bench
  module Ws
    # A server that compresses or not.
    Setting = Struct.new(:candidate, :deflates) do
      extend Forwardable

      def_delegators :candidate, :installation

      def arguments(port)
        candidate.arguments(port, deflates: deflates)
      end
    end

    # What clients do.
    #
    # @!attribute app [String, nil] path of the config.ru of the candidate whose turn it is
    Workload = Struct.new(:name, :title, :unit, :generator, :deflates, :load, :connections, keyword_init: true) do
      attr_reader :app

      def initialize(unit: "messages", deflates: false, load: LoadRun, **rest)
        super
      end

      # @return [Sample]
      def sample(candidate, connections, seconds)
        @app = candidate.rackup
        load.new(Setting.new(candidate, deflates), self, connections, generator: generator).sample(seconds)
      end

      def request
        Request.new
      end

      # @param response [Net::HTTPResponse]
      # @return [String, nil] what is wrong with it
      def objection(response)
        "status #{response.code}, #{response.body.inspect[0, 80]}" unless response.code == "200" && response.body == "Hello, world!"
      end
    end

    ECHO_SIZES = { "64" => [64, "64 bytes"], "1k" => [1024, "1 KiB"], "64k" => [65_536, "64 KiB"] }.freeze
    ECHOES = ECHO_SIZES.flat_map do |name, (bytes, size)|
      generator = LoadGeneratorProcess.new("echo", "-b", bytes.to_s)
      [Workload.new(name: "echo-#{name}", title: "Echo, #{size}", generator: generator),
       Workload.new(name: "echo-#{name}-deflate", title: "Echo, #{size}, compressed", generator: generator.with("-z"), deflates: true)]
    end

    WORKLOADS = [
      *ECHOES,
      Workload.new(name: "broadcast", title: "To all, 64 bytes, four on their way", generator: LoadGeneratorProcess.new("broadcast", "-w", "4")),
      Workload.new(name: "broadcast-1k", title: "To all, 1 KiB, four on their way",
                   generator: LoadGeneratorProcess.new("broadcast", "-w", "4", "-b", "1024")),
      Workload.new(name: "broadcast-paced", title: "To all, 64 bytes, every 50 ms",
                   generator: LoadGeneratorProcess.new("broadcast", "-e", "50", "-w", "100")),
      *[LoadRun, ClientThatNeverReads].map do |load|
        Workload.new(name: load == ClientThatNeverReads ? "broadcast-deaf" : "broadcast-16k", load: load, connections: [50],
                     title: "To all, 16 KiB, every 10 ms#{", beside one who reads nothing" if load == ClientThatNeverReads}",
                     generator: LoadGeneratorProcess.new("broadcast", "-b", "16384", "-e", "10", "-w", "100"))
      end,
      Workload.new(name: "events", title: "Server-sent events to all, 64 bytes, four on their way",
                   generator: LoadGeneratorProcess.new("events", "-w", "4")),
      Workload.new(name: "connects", title: "Connect, shake hands, close", unit: "connections", generator: LoadGeneratorProcess.new("connects")),
      Workload.new(name: "idle", title: "Clients that wait", unit: "clients", generator: LoadGeneratorProcess.new("idle"), load: IdleClients),
      Workload.new(name: "hello", title: "Hello world beside clients that wait", unit: "requests", generator: LoadGeneratorProcess.new("idle"),
                   load: RequestsBesideClients, connections: [1, 15_000])
    ].freeze
  end
end
