# frozen_string_literal: true

require_relative "../lib/gem_installation"
require_relative "../lib/node_package"

module Bench
  module Ws
    # A server: where it comes from, its application in servers/, and the command that serves that by one process on one core.
    #
    # @!attribute deflating [String, nil] the command when it is to compress, where that is another one
    Candidate = Struct.new(:name, :installation, :app, :command, :deflating) do
      def upwell?
        name.start_with?("upwell")
      end

      def for?(_workload)
        true
      end

      # @param deflates [Boolean]
      # @return [Array<String>]
      def arguments(port, deflates: false)
        ((deflating if deflates) || command).gsub("PORT", port.to_s).gsub("APPS", APPS).split
      end

      # @return [String, nil] path of a config.ru
      def rackup
        File.join(APPS, app) if app
      end
    end

    APPS = File.expand_path("servers", __dir__)
    RACK = %w[rack:3.2.8].freeze
    FALCON = GemInstallation.new("falcon", version: "0.57.0", companions: ["async-websocket:0.30.2", *RACK], folder: "falcon-ws")
    PUMA = GemInstallation.new("puma", version: "8.0.2", companions: ["faye-websocket:0.12.0", "permessage_deflate:0.1.4", *RACK],
                                       folder: "puma-ws")
    IODINES = { "0.7" => "0.7.60", "0.8" => "0.8.3" }.map do |name, version|
      Candidate.new("iodine-#{name}", GemInstallation.new("iodine", version: version, companions: RACK, folder: "iodine-#{name}"),
                    "upgrade.ru", "iodine -w 1 -t 1 -b 127.0.0.1 -p PORT config.ru")
    end
    UPWELLS = { "fibers" => "io_uring", "fibers-epoll" => "epoll", "inline" => "io_uring" }.map do |name, backend|
      Candidate.new("upwell-#{name}", GemInstallation.new("upwell", companions: %w[rack roda]), "upgrade.ru",
                    "upwell --mode #{name[/\w+/]} --backend #{backend} --connections-max 20000 -p PORT -b 127.0.0.1 config.ru")
    end

    CANDIDATES = [
      *UPWELLS, *IODINES,
      Candidate.new("up_ruby", GemInstallation.new("opal-up", version: "0.0.13", companions: RACK, folder: "opal-up-ws"), "upgrade.ru",
                    "up_ruby -w 1 -b 127.0.0.1 -p PORT"),
      Candidate.new("falcon", FALCON, "async_websocket.ru", "falcon serve -n 1 --bind http://127.0.0.1:PORT -c config.ru"),
      Candidate.new("puma-faye", PUMA, "faye_websocket.ru", "puma -w 0 -t 5:5 -q -b tcp://127.0.0.1:PORT config.ru",
                    "env DEFLATE=1 puma -w 0 -t 5:5 -q -b tcp://127.0.0.1:PORT config.ru"),
      Candidate.new("node-ws", NodePackage.new("ws", version: "8.23.0"), nil, "node APPS/ws.js PORT", "node APPS/ws.js PORT deflate"),
      Candidate.new("uwebsockets", NodePackage.new("uwebsockets", version: "3.0.6"), nil, "node APPS/uwebsockets.js PORT",
                    "node APPS/uwebsockets.js PORT deflate")
    ].freeze
  end
end
