# frozen_string_literal: true

require_relative "installation"
require_relative "server"

module Bench
  # A commit's server, built as its users get it.
  class Commit
    attr_reader :name

    def initialize(name, checkout)
      @name = name
      @installation = Installation.new("upwell", companions: %w[rack roda], folder: "commit-#{name}", checkout: checkout)
      @installation.install
    end

    def serve(workload, options, &block)
      command = ->(port) { ["upwell", "-b", "127.0.0.1", "-p", port.to_s, *options, "config.ru"] }
      Server.open(command, installation: @installation, app: workload.app, &block)
    end
  end
end
