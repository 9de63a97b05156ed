# frozen_string_literal: true

require "bundler"

module Upwell
  module Opal
    # Where an application's gems lie: those of its Gemfile, else those that are installed. None is activated: what is compiled need not
    # go together with what compiles it.
    class GemPaths
      # @param folder [String] the application's; its Gemfile is there, or in a folder above
      def initialize(folder)
        @folder = folder
      end

      # @return [String, nil] the Gemfile's path
      def gemfile
        return @gemfile if defined?(@gemfile)

        @gemfile = ENV["BUNDLE_GEMFILE"] || above.map { |folder| File.join(folder, "Gemfile") }.find { |path| File.file?(path) }
      end

      # @return [Array<String>] the Gemfile and its lock file: when they change, the paths may
      def files
        gemfile ? [gemfile, "#{gemfile}.lock"].select { |path| File.file?(path) } : []
      end

      # @return [Array<String>] the load paths that are known from the outset
      def to_a
        @to_a ||= gemfile ? specifications.flat_map(&:full_require_paths) : []
      end

      # Without a Gemfile, the newest installed gem that has the feature is taken, as Ruby's `require` does.
      #
      # @param feature [String] as `require` is given it
      # @return [Array<String>] the load paths of the gem that has it, and of what that gem needs; none when there is no such gem
      def for(feature)
        return [] if gemfile

        specification = Gem::Specification.find_by_path(feature)
        specification ? with_needed(specification).flat_map(&:full_require_paths) : []
      end

      private

      def above
        Enumerator.produce(@folder) { |folder| File.dirname(folder) == folder ? raise(StopIteration) : File.dirname(folder) }
      end

      def specifications
        definition = Bundler::Definition.build(gemfile, "#{gemfile}.lock", nil)
        definition.specs.to_a
      rescue Bundler::BundlerError => e
        raise ConfigurationError, "#{gemfile}: #{e.message.lines.first.strip}; run bundle install"
      end

      def with_needed(specification, found = [])
        return found if found.include?(specification)

        found << specification
        specification.runtime_dependencies.each { |dependency| with_needed(dependency.to_spec, found) }
        found
      end
    end
  end
end
