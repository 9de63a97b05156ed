# frozen_string_literal: true

require "upwell/opal/runtime"
require_relative "server_process"

# One of the commands that serve an application on a JavaScript runtime, or its like on MRI, as a child process.
class OpalProcess < ServerProcess
  RUNTIMES = { "up" => :uwebsockets, "up_node" => :node, "up_bun" => :bun }.freeze
  MRI = %w[up_ruby up_ruby_cluster].freeze
  CLUSTER_WORKERS = 2

  class << self
    # @return [Array<String>]
    def commands
      RUNTIMES.keys.flat_map { |name| [name, "#{name}_cluster"] } + MRI
    end

    # @param name [String] the command's
    def command(name, *arguments)
      [RbConfig.ruby, "-I#{File.join(ServerProcess::ROOT, "lib")}", File.join(ServerProcess::ROOT, "exe", name), *arguments]
    end

    # @param name [String] a command
    # @return [String, nil] the sentence for what it lacks on this machine
    def lacks(name)
      runtime = RUNTIMES[name.delete_suffix("_cluster")] or return
      @lacking ||= {}
      @lacking.fetch(runtime) { @lacking[runtime] = lacking(runtime) } # the search starts each runtime
    end

    # The command's environment. Its process has RubyGems, which tell which gems are compiled, and no Bundler.
    #
    # @param more [Hash{String => String}] beside this process's own
    # @return [Hash{String => String, nil}]
    def environment(more = {})
      return more unless ENV.fetch("RUBYOPT", "").include?("bundler/setup")

      BundleGemPaths.environment({ "GEM_PATH" => Gem.path.join(File::PATH_SEPARATOR), **more })
    end

    # Starts a command, of a cluster with few workers, yields it, and ends it.
    def open(name, *arguments, **options, &block)
      arguments = ["-w", CLUSTER_WORKERS.to_s, *arguments] if name.end_with?("_cluster")
      super(*arguments, command: [name], **options, &block)
    end

    private

    def lacking(runtime)
      Upwell::Opal::Runtime.find(runtime, ServerProcess::ROOT)
      nil
    rescue Upwell::ConfigurationError => e
      e.message
    end
  end

  private

  def with_gems(environment)
    self.class.environment(environment)
  end
end
