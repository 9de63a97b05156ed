# frozen_string_literal: true

require_relative "../opal/program"
require_relative "../opal/runtime"
require_relative "../errno_text"

module Upwell
  class CLI
    # `upwell opal build [config.ru] -o app.js` compiles an application to one JavaScript file, which runs on a machine without Ruby.
    class OpalBuild < CLI
      NEEDS = { uwebsockets: "; install the package uWebSockets.js or uwebsockets in its directory or above" }.freeze

      private

      def usage
        "Usage: #{@program} [options] [config.ru]"
      end

      def settings
        []
      end

      def define_more(options)
        @runtime = :node
        options.on("-o", "--output FILE", "JavaScript file to write") { |path| @output = path }
        options.on("--runtime NAME", Opal::Runtime::NAMES, "runtime for the file: #{Opal::Runtime::NAMES.join(", ")} [node]") { |name| @runtime = name }
      end

      def serve(rest)
        refuse_several(rest, "compiled")
        raise ConfigurationError, "the option -o is missing; name the output file: -o app.js" unless @output

        write(Opal::Program.new(rackup_file(rest.first), @runtime).portable)
        say("#{@output} runs with: #{@runtime == :bun ? "bun" : "node"} #{@output}#{NEEDS[@runtime]}")
      end

      # An incomplete file must not replace the old one.
      def write(javascript)
        own = "#{@output}.#{Process.pid}"
        File.write(own, javascript)
        File.rename(own, @output)
      rescue SystemCallError => e
        FileUtils.rm_f(own)
        raise ConfigurationError, "#{@output} cannot be written: #{ErrnoText.of(e)}; name another file with -o"
      end
    end
  end
end
