# frozen_string_literal: true

require "json"
require_relative "../configuration"
require_relative "../version"
require_relative "cache"
require_relative "gem_paths"
require_relative "stamps"

module Upwell
  # The application on JavaScript runtimes: compiled by Opal.
  module Opal
    # An application, compiled for a runtime to one JavaScript file.
    class Program
      # Of Bun, which loads its parts when they are asked for, and would find JavaScript's own classes changed by Opal then.
      BUN_PARTS = %w[buffer bun:ffi child_process cluster crypto dns events fs http https net os path readline stream tls tty url util
                     worker_threads zlib].freeze
      # What runs before Opal, by the runtime.
      PRELUDES = { bun: "#{BUN_PARTS.inspect}.forEach(name => require(name)); process.stdout; process.stderr; " }.freeze

      # What the program adds to its own name: the file of what it has evaluated, see opal/upwell/boot/evaluation.rb.
      EVALUATED = ".evaluated"

      # @param rackup [String] the path of config.ru
      # @param runtime [Symbol] :node, :uwebsockets or :bun
      def initialize(rackup, runtime)
        @rackup = File.expand_path(rackup)
        @runtime = runtime
        @cache = Cache.programs
        @stamps = Stamps.new
      end

      # The program is compiled when it is not there, or something that it was made of has changed.
      #
      # @return [String] the compiled file's path
      # @raise [ConfigurationError] when it cannot be compiled, or written
      def path
        fresh || compile
      end

      # @return [String] the program, for a machine without Ruby: it takes the folder it lies in for the application's
      # @raise [ConfigurationError] when it cannot be compiled
      def portable
        units = compiled
        map = [JSON.generate(Build::Mappings.join([Build::Unit.head(portable_head), *units]))].pack("m0")
        "#{portable_head}#{units.map(&:javascript).join}//# sourceMappingURL=data:application/json;base64,#{map}\n"
      end

      private

      # Looks at the files alone: Opal is not loaded.
      def fresh
        made_of, files, size = @cache.read(made_of_path)
        return unless made_of && File.size?(files.first) == size && made_of.all? { |path, stamp| Stamps.of(path) == stamp }

        @cache.touch(made_of_path, *files)
        files.first
      end

      def made_of_path
        @made_of_path ||= @cache.path_of([@rackup, @runtime, VERSION, RUBY_VERSION, *GemPaths.settings])
      end

      # The map is named by what it says: a program that runs shall not read its successor's.
      def compile
        units = compiled
        map = keep(".map", JSON.generate(Build::Mappings.join([Build::Unit.head(head), *units])))
        program = keep(".js", "#{head}#{units.map(&:javascript).join}//# sourceMappingURL=#{File.basename(map)}\n")
        write(made_of_path, Marshal.dump([@stamps.to_h, [program, map, "#{program}#{EVALUATED}"], File.size(program)]))
        program
      end

      def compiled
        require_relative "build"
        @stamps.note(@rackup)
        Build.new(root, gem_paths, @stamps).units(source, @rackup)
      end

      def keep(extension, content)
        @cache.path_of([content], extension).tap { |path| write(path, content) }
      end

      def write(path, content)
        return if @cache.write(path, content)

        raise ConfigurationError,
              "the compiled application cannot be written to #{@cache.folder}: make room there, or name another folder in XDG_CACHE_HOME"
      end

      def gem_paths
        @gem_paths ||= GemPaths.new(File.dirname(@rackup), @stamps)
      end

      # The folder of the Gemfile, if config.ru lies beneath it.
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

      # On the line of its first code: lines are numbered as they are in config.ru, and the comments that it begins with count.
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
