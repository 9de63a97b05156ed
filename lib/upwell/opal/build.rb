# frozen_string_literal: true

require "opal"
require_relative "../configuration"
require_relative "cache"
require_relative "gem_paths"

module Upwell
  module Opal
    # Compiles a Ruby program, with all required files, to one JavaScript program. This file loads the gem opal, which is slow, so it is loaded
    # only for a compilation.
    class Build
      ROOT = File.expand_path("../../..", __dir__)
      OWN_PATHS = %w[opal opal/shims lib].map { |folder| File.join(ROOT, folder) }.freeze
      OPAL_PATHS = [::Opal.core_dir, ::Opal.std_dir, ::Opal.gem_dir].freeze
      # Opal's own files, including its parser, are compiled as Opal compiles them.
      PLAIN_PATHS = [*OPAL_PATHS, *%w[ast parser racc].flat_map { |name| Gem::Specification.find_by_name(name).full_require_paths }].freeze
      FIRST = %w[opal upwell/boot].freeze

      # @param root [String] the application's directory
      # @param gem_paths [GemPaths]
      # @param stamps [Stamps] receives all files that affect the program
      # @param tell [#call, nil] called with a progress message, see {Progress}
      def initialize(root, gem_paths = GemPaths.new(root), stamps = Stamps.new, tell: nil)
        stamps.note(*Dir[File.join(__dir__, "**/*.rb")], File.join(::Opal.gem_dir, "opal/version.rb"))
        @sources = RequireResolver.new([*OWN_PATHS, *PLAIN_PATHS, *gem_paths.to_a], gem_paths, root, stamps)
        @cache = Cache.units
        @units = {}
        @progress = Progress.new(tell)
      end

      # Compiles a program.
      #
      # @param source [String] Ruby
      # @param path [String] its file
      # @return [Array<Unit>] in load order
      def units(source, path)
        main = compile(@sources.canonical(path), source, plain: false, symbols: true)
        [*FIRST, *main.requires].each { |feature| add(feature) }
        add_named(main)
        [*@units.values.compact, main]
      end

      private

      # A missing file is ignored here: the program raises a LoadError when it requires the file.
      def add(feature)
        feature = @sources.canonical(feature)
        path = @sources.path(feature)
        return if !path || @units.key?(path)

        @units[path] = nil # stops recursion when files require each other
        unit = compiled(@sources.name(feature), path, load: FIRST.include?(feature), requirable: true, **kind(path))
        unit.requires.each { |required| add(required) }
        @units.delete(path)
        @units[path] = unit
      end

      # A gem's file that cannot be compiled raises a LoadError when it is required: many gems have files for other platforms.
      def compiled(name, path, **options)
        compile(name, File.read(path, encoding: "UTF-8"), **options)
      rescue ConfigurationError => e
        raise if name.start_with?(RequireResolver::OWN, "/")

        compile(name, "raise LoadError, #{e.message.dump}", **options)
      end

      # Opal's own files are compiled unchanged. In this project's files symbols are strings, because their JavaScript compares them.
      def kind(path)
        { plain: path.start_with?(*PLAIN_PATHS), symbols: !path.start_with?(*OWN_PATHS) }
      end

      # Adds features whose names the program builds at run time, from words of the application and of files in the same gem.
      def add_named(main)
        loop do
          before = @units.size
          TemplateEngines.features(@units.values, main).each { |feature| add(feature) }
          prefixes = @units.values.flat_map(&:prefixes).uniq
          prefixes.each { |prefix| words_for(prefix, main).each { |word| add("#{prefix}#{word}") } }
          break if @units.size == before
        end
      end

      def words_for(prefix, main)
        home = @sources.home(prefix)
        near = @units.select { |path, unit| unit.name.start_with?(RequireResolver::OWN) || (home && path.start_with?("#{home}/")) }
        [main, *near.values].flat_map(&:words).uniq.grep(%r{\A[\w/-]+\z})
      end

      def compile(name, source, plain:, **options)
        @cache.fetch([name, source, options.to_a, *(plain ? [PLAIN_FINGERPRINT] : [FINGERPRINT, @sources.folders(source)])]) do
          @progress.compiled(name)
          Unit.compile(name, source, plain: plain, canonical: @sources.method(:canonical), **options)
        end
      rescue ::Opal::Error, ::Opal::SyntaxError => e
        raise ConfigurationError, "#{name}:#{line_of(e)} cannot be compiled to JavaScript: #{e.message.lines.first.strip}; change this code"
      end

      def line_of(error)
        error.cause.respond_to?(:diagnostic) ? error.cause.diagnostic.location.line : ::Opal.opal_location_from_error(error).line
      end
    end
  end
end

Opal::Parser.default_parser_class.diagnostics_consumer = ->(_diagnostic) {} # the raised error has the same text

require_relative "build/progress"
require_relative "build/require_resolver"
require_relative "build/template_engines"
require_relative "build/unit"
require_relative "build/fingerprint"
