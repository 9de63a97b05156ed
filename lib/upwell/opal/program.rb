# frozen_string_literal: true

require "tmpdir"
require_relative "gem_paths"

module Upwell
  # The application on JavaScript runtimes: compiled by Opal.
  module Opal
    # An application, compiled for a runtime to one JavaScript file.
    class Program
      # Of Bun, which loads its parts when they are asked for, and would find JavaScript's own classes changed by Opal then.
      BUN_PARTS = %w[buffer child_process cluster crypto dns events fs http https net os path readline stream tls tty url util worker_threads zlib].freeze
      # What runs before Opal, by the runtime.
      PRELUDES = { bun: "#{BUN_PARTS.inspect}.forEach(name => require(name)); process.stdout; process.stderr; " }.freeze

      # @param rackup [String] the path of config.ru
      # @param runtime [Symbol] :node, :uwebsockets or :bun
      def initialize(rackup, runtime)
        @rackup = File.expand_path(rackup)
        @runtime = runtime
      end

      # @return [String] the compiled file's path
      def path
        path = File.join(Dir.tmpdir, "upwell-#{Process.uid}-#{@runtime}#{@rackup.tr("/", "-")}.js")
        File.write(path, javascript)
        path
      end

      # @return [String] the compiled program
      def javascript
        require_relative "build"
        PRELUDES.fetch(@runtime, "") + Build.new(GemPaths.new(File.dirname(@rackup))).javascript(source, @rackup)
      end

      private

      # On the line of config.ru's first one, so that lines are numbered as they are there.
      def source
        "require \"upwell/program\"; require \"upwell/runtime/#{@runtime}\"; Upwell::Program.new(:#{@runtime}, ARGV).run { " \
          "require \"rack\"; ::Rack::Builder.new { #{script}\n}.to_app }\n"
      end

      def script
        File.read(@rackup, encoding: "UTF-8").split(/^__END__$/, 2).first
      end
    end
  end
end
