# frozen_string_literal: true

require "opal"
require_relative "../configuration"
require_relative "cache"
require_relative "gem_paths"

module Upwell
  module Opal
    # Compiles Ruby, with all that it requires, to one JavaScript program. Loads the gem opal, which takes its time: only what has to be
    # compiled comes here.
    class Build
      ROOT = File.expand_path("../../..", __dir__)
      OWN_PATHS = %w[opal opal/shims lib].map { |folder| File.join(ROOT, folder) }.freeze
      OPAL_PATHS = [::Opal.core_dir, ::Opal.std_dir, ::Opal.gem_dir].freeze
      # What Opal is made of, down to its parser, is compiled as Opal itself does it.
      PLAIN_PATHS = [*OPAL_PATHS, *%w[ast parser racc].flat_map { |name| Gem::Specification.find_by_name(name).full_require_paths }].freeze
      FIRST = %w[opal upwell/boot].freeze

      # @param root [String] the application's folder
      # @param gem_paths [GemPaths]
      # @param stamps [Stamps] get all that the program is made of, and made by
      def initialize(root, gem_paths = GemPaths.new(root), stamps = Stamps.new)
        stamps.note(*Dir[File.join(__dir__, "**/*.rb")], File.join(::Opal.gem_dir, "opal/version.rb"))
        @sources = Sources.new([*OWN_PATHS, *PLAIN_PATHS, *gem_paths.to_a], gem_paths, root, stamps)
        @cache = Cache.units
        @units = {}
      end

      # Compiles a program.
      #
      # @param source [String] Ruby
      # @param path [String] its file
      # @return [Array<Unit>] in the order in which they are to be loaded
      def units(source, path)
        main = compile(@sources.canonical(path), source, plain: false, symbols: true)
        [*FIRST, *main.requires].each { |feature| add(feature) }
        add_named(main)
        [*@units.values.compact, main]
      end

      private

      # What is not there is left to the program: it raises a LoadError when it requires it, if it does.
      def add(feature)
        feature = @sources.canonical(feature)
        path = @sources.path(feature)
        return if !path || @units.key?(path)

        @units[path] = nil # those that require each other come here again
        unit = compile(@sources.name(feature), File.read(path, encoding: "UTF-8"), load: FIRST.include?(feature), requirable: true, **kind(path))
        unit.requires.each { |required| add(required) }
        @units.delete(path)
        @units[path] = unit
      end

      # Opal's own files are compiled as Opal does it; in ours, whose JavaScript compares them, symbols are strings.
      def kind(path)
        { plain: path.start_with?(*PLAIN_PATHS), symbols: !path.start_with?(*OWN_PATHS) }
      end

      # Features whose names are made when the program runs: of the words of the application, and of the files in the same gem.
      def add_named(main)
        loop do
          before = @units.size
          prefixes = @units.values.flat_map(&:prefixes).uniq
          prefixes.each { |prefix| words_for(prefix, main).each { |word| add("#{prefix}#{word}") } }
          break if @units.size == before
        end
      end

      def words_for(prefix, main)
        home = @sources.home(prefix)
        near = @units.select { |path, unit| unit.name.start_with?(Sources::OWN) || (home && path.start_with?("#{home}/")) }
        [main, *near.values].flat_map(&:words).uniq.grep(%r{\A[\w/-]+\z})
      end

      def compile(name, source, plain:, **options)
        @cache.fetch([name, source, options.to_a, *(plain ? [PLAIN_FINGERPRINT] : [FINGERPRINT, @sources.folders(source)])]) do
          Unit.compile(name, source, plain: plain, canonical: @sources.method(:canonical), **options)
        end
      rescue ::Opal::Error, ::Opal::SyntaxError => e
        raise ConfigurationError, "#{name}:#{line_of(e)} cannot be compiled to JavaScript: #{e.message.lines.first.strip}"
      end

      def line_of(error)
        error.cause.respond_to?(:diagnostic) ? error.cause.diagnostic.location.line : ::Opal.opal_location_from_error(error).line
      end
    end
  end
end

Opal::Parser.default_parser_class.diagnostics_consumer = ->(_diagnostic) {} # the error that is raised says it, too

require_relative "build/sources"
require_relative "build/unit"
require_relative "build/fingerprint"
