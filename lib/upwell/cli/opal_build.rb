# frozen_string_literal: true

require_relative "../opal/program"
require_relative "../opal/runtime"
require_relative "../reason"

module Upwell
  class CLI
    # `upwell opal build [config.ru] -o app.js`: one JavaScript file, which a machine without Ruby runs.
    class OpalBuild < CLI
      NEEDS = { uwebsockets: "; there the package uWebSockets.js or uwebsockets has to be in a node_modules of its folder or above" }.freeze

      private

      def usage
        "Usage: #{@program} [options] [config.ru]"
      end

      def settings
        []
      end

      def define_more(options)
        @runtime = :node
        options.on("-o", "--output FILE", "the JavaScript file that is written") { |path| @output = path }
        options.on("--runtime NAME", Opal::Runtime::NAMES, "what shall run it: #{Opal::Runtime::NAMES.join(", ")} [node]") { |name| @runtime = name }
      end

      def serve(rest)
        refuse_several(rest, "compiled")
        raise ConfigurationError, "name the file that shall be written: -o app.js" unless @output

        write(Opal::Program.new(rackup_file(rest.first), @runtime).portable)
        say("#{@output} runs with: #{@runtime == :bun ? "bun" : "node"} #{@output}#{NEEDS[@runtime]}")
      end

      # A file that is half written takes nobody's place.
      def write(javascript)
        own = "#{@output}.#{Process.pid}"
        File.write(own, javascript)
        File.rename(own, @output)
      rescue SystemCallError => e
        FileUtils.rm_f(own)
        raise ConfigurationError, "#{@output} cannot be written: #{Reason.of(e)}"
      end
    end
  end
end
