# frozen_string_literal: true

require "json"
require_relative "../configuration"
require_relative "../version"
require_relative "cache"
require_relative "compiler_gem"
require_relative "gem_paths"
require_relative "stamps"

module Upwell
  # This module runs applications on JavaScript runtimes.
  module Opal
    # An application, compiled to one JavaScript file for a runtime.
    class Program
      # Bun's modules. Bun loads them on first use, but by then Opal has changed JavaScript's own classes.
      BUN_PARTS = %w[buffer bun:ffi child_process cluster crypto dns events fs http https net os path readline stream tls tty url util
                     worker_threads zlib].freeze
      # Code that runs before Opal, by runtime.
      PRELUDES = { bun: "#{BUN_PARTS.inspect}.forEach(name => require(name)); process.stdout; process.stderr; " }.freeze

      # The suffix of the file for evaluated code, see opal/upwell/boot/text_evaluation.rb.
      EVALUATED = ".evaluated"

      # @param rackup [String] the path of config.ru
      # @param runtime [Symbol] :node, :uwebsockets or :bun
      # @param tell [#call, nil] called with progress messages during the compilation
      def initialize(rackup, runtime, tell: nil)
        @rackup = File.expand_path(rackup)
        @runtime = runtime
        @tell = tell
        @cache = Cache.programs
        @stamps = Stamps.new
      end

      # Finds the compiled program, and compiles it if it is missing or one of its inputs has changed.
      #
      # @return [String] the compiled file's path
      # @raise [ConfigurationError] when the program cannot be compiled or written
      def path
        fresh || compile
      end

      # @return [String] a program for a machine without Ruby, which uses its own directory as the application's
      # @raise [ConfigurationError] when the program cannot be compiled
      def portable
        units = compiled
        map = [JSON.generate(Build::SourceMap.join([Build::Unit.head(portable_head), *units]))].pack("m0")
        "#{portable_head}#{units.map(&:javascript).join}//# sourceMappingURL=data:application/json;base64,#{map}\n"
      end

      private

      # This check reads only the files, without Opal.
      def fresh
        made_of, files, size = @cache.read(made_of_path)
        return unless made_of && File.size?(files.first) == size && made_of.all? { |path, stamp| Stamps.of(path) == stamp }

        @cache.touch(made_of_path, *files)
        files.first
      end

      def made_of_path
        @made_of_path ||= @cache.path_of([@rackup, @runtime, VERSION, RUBY_VERSION, *GemPaths.settings])
      end

      # The map is named by its content, because a running program must not read its successor's map.
      def compile
        units = compiled
        map = keep(".map", JSON.generate(Build::SourceMap.join([Build::Unit.head(head), *units])))
        program = keep(".js", "#{head}#{units.map(&:javascript).join}//# sourceMappingURL=#{File.basename(map)}\n")
        write(made_of_path, Marshal.dump([@stamps.to_h, [program, map, "#{program}#{EVALUATED}"], File.size(program)]))
        program
      end

      def compiled
        CompilerGem.new(gem_paths).load
        require_relative "build"
        @stamps.note(@rackup)
        Build.new(root, gem_paths, @stamps, tell: @tell).units(source, @rackup)
      end

      def keep(extension, content)
        @cache.path_of([content], extension).tap { |path| write(path, content) }
      end

      def write(path, content)
        return if @cache.write(path, content)

        raise ConfigurationError,
              "the compiled application cannot be written to #{@cache.folder}: free disk space, or set XDG_CACHE_HOME to another directory"
      end

      def gem_paths
        @gem_paths ||= GemPaths.new(File.dirname(@rackup), @stamps)
      end

      # The root is the Gemfile's directory if it contains config.ru.
      def root
        folder = gem_paths.gemfile && File.dirname(gem_paths.gemfile)
        folder && @rackup.start_with?("#{folder}/") ? folder : File.dirname(@rackup)
      end

      def head
        "#{PRELUDES[@runtime]}globalThis.Opal_root = #{JSON.generate(root)}; globalThis.Opal_evaluated = __filename + \"#{EVALUATED}\";\n"
      end

      def portable_head
        "#{PRELUDES[@runtime]}globalThis.Opal_root = __dirname;\n"
      end

      # The added code is on the line of the first statement, after leading comments, so that line numbers are those of config.ru.
      def source
        comments, code = script.match(/\A((?:[ \t]*(?:#[^\n]*)?\n)*)(.*)\z/m).captures
        "#{comments}require \"upwell/program\"; require \"upwell/runtime/#{@runtime}\"; Upwell::Program.new(:#{@runtime}, ARGV).run { " \
          "require \"rack\"; ::Rack::Builder.new { #{code}\n}.to_app }\n"
      end

      def script
        File.read(@rackup, encoding: "UTF-8").split(/^__END__$/, 2).first
      end
    end
  end
end
