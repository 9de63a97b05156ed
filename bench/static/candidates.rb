# frozen_string_literal: true

require_relative "../lib/core_static_server"
require_relative "../lib/gem_installation"
require_relative "../lib/system_program"
require_relative "served_files"

module Bench
  module Static
    # A server of files: where it comes from, and the command that serves ROOT by one process on one core.
    Candidate = Struct.new(:name, :installation, :command) do
      def upwell?
        name.start_with?("upwell")
      end

      def for?(_workload)
        true
      end

      # @return [Array<String>]
      def arguments(port)
        command.gsub("PORT", port.to_s).gsub("ROOT", ServedFiles::ROOT).gsub("PEERS", PEERS).sub("CORE", CoreStaticServer::PATH).split
      end
    end

    PEERS = File.expand_path("../peers", __dir__) # scripts that write the configuration of a peer and start it

    UPWELL = GemInstallation.new("upwell", companions: %w[rack roda])
    RACK = { companions: %w[rack] }.freeze
    OPTIONS = "-p PORT -b 127.0.0.1"

    CANDIDATES = [
      Candidate.new("upwell-io_uring", UPWELL, "upwell static --backend io_uring --quiet #{OPTIONS} ROOT"),
      Candidate.new("upwell-epoll", UPWELL, "upwell static --backend epoll --quiet #{OPTIONS} ROOT"),
      Candidate.new("upwell-core-io_uring", CoreStaticServer.new, "CORE --backend io_uring #{OPTIONS} ROOT"),
      Candidate.new("upwell-core-epoll", CoreStaticServer.new, "CORE --backend epoll #{OPTIONS} ROOT"),
      Candidate.new("nginx", SystemProgram.new("nginx", version: "-v"), "sh PEERS/nginx.sh PORT ROOT"),
      Candidate.new("h2o", SystemProgram.new("h2o", version: "-v"), "sh PEERS/h2o.sh PORT ROOT"),
      Candidate.new("lighttpd", SystemProgram.new("lighttpd", version: "-v"), "sh PEERS/lighttpd.sh PORT ROOT"),
      Candidate.new("puma", GemInstallation.new("puma", **RACK), "env FOLDER=ROOT puma -w 0 -t 1:1 -q -b tcp://127.0.0.1:PORT config.ru"),
      Candidate.new("iodine", GemInstallation.new("iodine", **RACK), "env FOLDER=ROOT iodine -w 1 -t 1 -www ROOT #{OPTIONS} config.ru")
    ].freeze
  end
end
