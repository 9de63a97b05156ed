# frozen_string_literal: true

require_relative "gem_installation"
require_relative "server"

module Bench
  # A checkout's server as its users get it: built, installed, started by its command.
  class UpwellCheckout
    # @param folder [String] where it is installed in the cache
    # @param checkout [String] the tree that it is built from
    def initialize(folder: "upwell", checkout: ROOT)
      @installation = GemInstallation.new("upwell", companions: %w[rack roda], folder: folder, checkout: checkout)
      @installation.install
    end

    # @return [Array<String>] the backends that work here on one core, the one that Upwell prefers first
    def backends
      script = 'require "upwell"; puts Upwell.backends.select { |backend| backend[:works] }.map { |backend| backend[:name] }'
      IO.popen([@installation.environment, "taskset", "-c", Server::CORE.to_s, RbConfig.ruby, "-e", script], &:readlines).map(&:chomp)
    end

    # @param options [Array<String>] more of the command line
    # @param secure [Boolean] whether these have it serve by TLS
    # @yieldparam server [Server]
    def serve(app, *options, secure: false, &block)
      command = ->(port) { ["upwell", "-b", "127.0.0.1", "-p", port.to_s, *options, "config.ru"] }
      Server.open(command, installation: @installation, app: File.expand_path("../apps/#{app}.ru", __dir__), secure: secure, &block)
    end

    # @param folder [String] whose files are served
    # @param options [Array<String>] more of the command line
    # @yieldparam server [Server]
    def serve_files(folder, *options, &block)
      command = ->(port) { ["upwell", "static", "-b", "127.0.0.1", "-p", port.to_s, *options, folder] }
      Server.open(command, installation: @installation, &block)
    end
  end
end
