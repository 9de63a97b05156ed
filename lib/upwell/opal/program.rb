# frozen_string_literal: true

require "json"
require_relative "../configuration"
require_relative "../version"
require_relative "cache"
require_relative "gem_paths"

module Upwell
  # The application on JavaScript runtimes: compiled by Opal.
  module Opal
    # An application, compiled for a runtime to one JavaScript file.
    class Program
      # Of Bun, which loads its parts when they are asked for, and would find JavaScript's own classes changed by Opal then.
      BUN_PARTS = %w[buffer child_process cluster crypto dns events fs http https net os path readline stream tls tty url util
                     worker_threads zlib].freeze
      # What runs before Opal, by the runtime.
      PRELUDES = { bun: "#{BUN_PARTS.inspect}.forEach(name => require(name)); process.stdout; process.stderr; " }.freeze

      # @param rackup [String] the path of config.ru
      # @param runtime [Symbol] :node, :uwebsockets or :bun
      def initialize(rackup, runtime)
        @rackup = File.expand_path(rackup)
        @runtime = runtime
        @cache = Cache.programs
      end

      # The program is compiled when it is not there, or something that it was made of has changed.
      #
      # @return [String] the compiled file's path
      # @raise [ConfigurationError] when it cannot be compiled, or written
      def path
        fresh || compile.then { |javascript| keep(javascript) }
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
        made_of, javascript, size = @cache.read(made_of_path)
        javascript if made_of && File.size?(javascript) == size && made_of == stamps(made_of.keys) && touch(javascript)
      end

      def touch(path)
        File.utime(nil, nil, path) # the ones that are used stay
        true
      rescue SystemCallError
        true
      end

      def made_of_path
        @cache.path_of([@rackup, @runtime, VERSION, RUBY_VERSION, ENV.fetch("BUNDLE_GEMFILE", nil)])
      end

      # @return [Hash{String => Array, nil}] what tells a changed file, and one that was not there
      def stamps(paths)
        paths.to_h do |path|
          stat = File.stat(path)
          [path, [stat.size, stat.mtime.to_r, stat.ino]]
        rescue SystemCallError
          [path, nil]
        end
      end

      def compile
        units = compiled
        "#{head}#{units.map(&:javascript).join}//# sourceMappingURL=#{File.basename(map_path)}\n".tap { write_map(units) }
      end

      def write_map(units)
        @cache.write(map_path, JSON.generate(Build::Mappings.join([Build::Unit.head(head), *units])))
      end

      def compiled
        require_relative "build"
        stamp = stamps([@rackup])
        build = Build.new(root, gem_paths)
        units = build.units(source, @rackup)
        @made_of = stamps([*build.files, *gem_paths.files, *build.sources.absent]).merge(stamp)
        units
      end

      def keep(javascript)
        path = @cache.path_of([javascript], ".js")
        written = @cache.write(path, javascript) && @cache.write(made_of_path, Marshal.dump([@made_of, path, javascript.bytesize]))
        return path if written

        raise ConfigurationError,
              "the compiled application cannot be written to #{@cache.folder}: make room there, or name another folder in XDG_CACHE_HOME"
      end

      def map_path
        "#{made_of_path}.map"
      end

      def gem_paths
        @gem_paths ||= GemPaths.new(File.dirname(@rackup))
      end

      # The folder of the Gemfile, if config.ru lies beneath it.
      def root
        folder = gem_paths.gemfile && File.dirname(File.expand_path(gem_paths.gemfile))
        folder && @rackup.start_with?("#{folder}/") ? folder : File.dirname(@rackup)
      end

      def head
        "#{PRELUDES[@runtime]}globalThis.Opal_root = #{JSON.generate(root)};\n"
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
