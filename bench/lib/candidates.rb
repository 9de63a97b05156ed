# frozen_string_literal: true

require_relative "gem_installation"

module Bench
  # A server as it is compared: the gem it comes in, the groups of workloads in which it is, and the command that serves config.ru of the
  # current folder by one process on one core.
  Candidate = Struct.new(:name, :gem_name, :groups, :command) do
    def upwell?
      gem_name == "upwell"
    end

    def installation
      GemInstallation.new(gem_name, companions: %w[rack roda])
    end

    # @return [Array<String>]
    def arguments(port)
      command.gsub("PORT", port.to_s).gsub("PEERS", PEERS).split
    end

    def for?(workload)
      groups.include?(workload.group)
    end
  end

  PEERS = File.expand_path("../peers", __dir__) # what a peer cannot be told by its command line

  CANDIDATES = [
    Candidate.new("upwell-io_uring", "upwell", %i[computing], "upwell --mode inline --backend io_uring -p PORT -b 127.0.0.1 config.ru"),
    Candidate.new("upwell-epoll", "upwell", %i[computing], "upwell --mode inline --backend epoll -p PORT -b 127.0.0.1 config.ru"),
    Candidate.new("upwell-fibers", "upwell", %i[computing waiting], "upwell --mode fibers --backend io_uring -p PORT -b 127.0.0.1 config.ru"),
    Candidate.new("upwell-fibers-epoll", "upwell", %i[waiting], "upwell --mode fibers --backend epoll -p PORT -b 127.0.0.1 config.ru"),
    Candidate.new("puma", "puma", %i[computing], "puma -w 0 -t 1:1 -q -b tcp://127.0.0.1:PORT config.ru"),
    Candidate.new("iodine", "iodine", %i[computing], "iodine -w 1 -t 1 -b 127.0.0.1 -p PORT config.ru"),
    Candidate.new("falcon", "falcon", %i[computing waiting], "falcon serve -n 1 --bind http://127.0.0.1:PORT -c config.ru"),
    Candidate.new("agoo", "agoo", %i[computing], "agoo -s -w 1 -t 1 -b http://127.0.0.1:PORT config.ru"),
    Candidate.new("itsi", "itsi", %i[computing], "itsi serve -C PEERS/itsi_configuration.rb -w 1 -t 1 -b http://127.0.0.1:PORT -r config.ru"),
    Candidate.new("up_ruby", "opal-up", %i[computing], "up_ruby -w 1 -b 127.0.0.1 -p PORT"),
    Candidate.new("upwell-threads", "upwell", %i[threads], "upwell --mode threads:5 --backend io_uring -p PORT -b 127.0.0.1 config.ru"),
    Candidate.new("puma-threads", "puma", %i[threads], "puma -w 0 -t 5:5 -q -b tcp://127.0.0.1:PORT config.ru")
  ].freeze
end
