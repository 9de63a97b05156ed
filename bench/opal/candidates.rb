# frozen_string_literal: true

require_relative "../lib/gem_installation"
require_relative "../lib/node_package"
require_relative "../lib/system_program"
require_relative "gems_and_runtime_installation"
require_relative "bun_package"

module Bench
  module Opal
    # A server: what it runs on, its kind, where it comes from, and the command that serves by one process on one core.
    #
    # @!attribute kind [Symbol] :bare, the runtime's own hello in servers/, :upwell or :peer
    Candidate = Struct.new(:name, :runtime, :kind, :installation, :command) do
      def upwell?
        kind == :upwell
      end

      def bare?
        kind == :bare
      end

      def for?(workload)
        !bare? || workload.name == "hello"
      end

      # @return [Array<String>]
      def arguments(port)
        command.gsub("PORT", port.to_s).sub("SERVERS", SERVERS).sub("PEERS", PEERS).sub("BUN") { BUN.path }.split
      end
    end

    SERVERS = File.expand_path("servers", __dir__)
    PEERS = File.expand_path("../peers", __dir__) # what a peer cannot be told by its command line
    OPAL = "opal:1.8.3"
    UPWELL = GemInstallation.new("upwell", companions: ["rack:3.2.8", OPAL], folder: "upwell-opal")
    OPAL_UP = GemInstallation.new("opal-up", version: "0.0.13", companions: ["rack:3.0.18", OPAL], folder: "opal-up-opal")
    NODE = SystemProgram.new("node", version: "--eval=console.log('node', process.version)")
    UWEBSOCKETS = NodePackage.new("uwebsockets", version: "3.0.6")
    BUN = BunPackage.new(version: "1.4.5")
    OPTIONS = "-b 127.0.0.1 -p PORT"

    CANDIDATES = [
      Candidate.new("node", :node, :bare, NODE, "node SERVERS/node.js PORT"),
      Candidate.new("up_node", :node, :upwell, GemsAndRuntimeInstallation.new(UPWELL, NODE), "up_node #{OPTIONS}"),
      Candidate.new("uwebsockets", :uwebsockets, :bare, UWEBSOCKETS, "node SERVERS/uwebsockets.js PORT"),
      Candidate.new("up", :uwebsockets, :upwell, GemsAndRuntimeInstallation.new(UPWELL, UWEBSOCKETS), "up #{OPTIONS}"),
      Candidate.new("opal-up-uwebsockets", :uwebsockets, :peer, GemsAndRuntimeInstallation.new(OPAL_UP, UWEBSOCKETS),
                    "sh PEERS/opal_up.sh nodejs up PORT"),
      Candidate.new("bun", :bun, :bare, BUN, "BUN SERVERS/bun.js PORT"),
      Candidate.new("up_bun", :bun, :upwell, GemsAndRuntimeInstallation.new(UPWELL, BUN), "up_bun #{OPTIONS}"),
      Candidate.new("opal-up-bun", :bun, :peer, GemsAndRuntimeInstallation.new(OPAL_UP, BUN), "sh PEERS/opal_up.sh bun up_bun PORT"),
      Candidate.new("up_ruby", :ruby, :upwell, UPWELL, "up_ruby --mode inline #{OPTIONS}"),
      Candidate.new("opal-up-ruby", :ruby, :peer, OPAL_UP, "up_ruby -w 1 #{OPTIONS}")
    ].freeze
  end
end
