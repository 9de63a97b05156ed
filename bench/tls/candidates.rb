# frozen_string_literal: true

require "forwardable"
require_relative "../lib/gem_installation"
require_relative "../lib/system_program"
require_relative "../static/served_files"

module Bench
  module Tls
    # A server: where it comes from, the groups of workloads in which it is, and the command that serves by one process on one core.
    Candidate = Struct.new(:name, :installation, :groups, :command) do
      def upwell?
        name.start_with?("upwell")
      end

      def for?(workload)
        groups.include?(workload.group)
      end

      # @param certificate [Certificate]
      # @return [Array<String>]
      def arguments(port, certificate)
        values = { "PORT" => port.to_s, "ROOT" => Static::ServedFiles::ROOT, "PEERS" => PEERS, "CERTIFICATE" => certificate.path,
                   "KEY" => certificate.key_path }
        command.gsub(Regexp.union(values.keys), values).split
      end
    end

    # One with a certificate.
    Holder = Struct.new(:candidate, :certificate) do
      extend Forwardable

      def_delegators :candidate, :installation

      def arguments(port)
        candidate.arguments(port, certificate)
      end
    end

    PEERS = File.expand_path("../peers", __dir__) # scripts that write the configuration of a peer and start it

    GEMS = { companions: %w[rack roda] }.freeze
    UPWELL = GemInstallation.new("upwell", **GEMS)
    OPTIONS = "-s -c CERTIFICATE -k KEY -p PORT -b 127.0.0.1"
    FILES = %i[static handshakes].freeze
    NGINX = SystemProgram.new("nginx", version: "-v")

    CANDIDATES = [
      Candidate.new("upwell-io_uring", UPWELL, FILES, "upwell static --backend io_uring --quiet #{OPTIONS} ROOT"),
      Candidate.new("upwell-epoll", UPWELL, FILES, "upwell static --backend epoll --quiet #{OPTIONS} ROOT"),
      Candidate.new("nginx", NGINX, FILES, "sh PEERS/nginx.sh PORT ROOT CERTIFICATE KEY DEFAULT"),
      Candidate.new("nginx-aes128", NGINX, FILES, "sh PEERS/nginx.sh PORT ROOT CERTIFICATE KEY TLS_AES_128_GCM_SHA256"),
      Candidate.new("h2o", SystemProgram.new("h2o", version: "-v"), FILES, "sh PEERS/h2o.sh PORT ROOT CERTIFICATE KEY"),
      Candidate.new("upwell-fibers", UPWELL, %i[rack], "upwell --mode fibers --backend io_uring #{OPTIONS} config.ru"),
      Candidate.new("upwell-fibers-epoll", UPWELL, %i[rack], "upwell --mode fibers --backend epoll #{OPTIONS} config.ru"),
      Candidate.new("puma", GemInstallation.new("puma", **GEMS), %i[rack],
                    "puma -w 0 -t 1:1 -q -b ssl://127.0.0.1:PORT?cert=CERTIFICATE&key=KEY config.ru"),
      Candidate.new("falcon", GemInstallation.new("falcon", **GEMS), %i[rack],
                    "env LISTEN=PORT,CERTIFICATE,KEY falcon host PEERS/falcon_tls_service.rb")
    ].freeze
  end
end
