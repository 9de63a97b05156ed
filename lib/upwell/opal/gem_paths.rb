# frozen_string_literal: true

require "open3"
require "rbconfig"
require_relative "../configuration"
require_relative "stamps"

module Upwell
  module Opal
    # Where an application's gems lie: those of its Gemfile, else those that are installed. None is activated: what is compiled need not
    # go together with what compiles it.
    class GemPaths
      # A Gemfile's names, and those of its lock file.
      LOCKS = { "Gemfile" => "Gemfile.lock", "gems.rb" => "gems.locked" }.freeze
      BUNDLED = File.join(__dir__, "gem_paths", "bundled.rb")

      # @return [Array] what decides where gems lie, beside files
      def self.settings
        [Gem.path, ENV.select { |name, _value| name.start_with?("BUNDLE_") }.sort]
      end

      # @param folder [String] the application's; its Gemfile is there, or in a folder above
      # @param stamps [Stamps] get all that the paths depend on
      def initialize(folder, stamps = Stamps.new)
        @folder = folder
        @stamps = stamps
      end

      # @return [String, nil] the Gemfile's path
      def gemfile
        return @gemfile if defined?(@gemfile)

        @gemfile = named_gemfile || candidates.find { |path| file?(path) }
      end

      # @return [Array<String>] the load paths that are known from the outset
      def to_a
        @to_a ||= gemfile ? bundled : []
      end

      # Without a Gemfile, the newest installed gem that has the feature is taken, as Ruby's `require` does.
      #
      # @param feature [String] as `require` is given it
      # @return [Array<String>] the load paths of the gem that has it, and of what that gem needs; none when there is no such gem
      def for(feature)
        return [] if gemfile

        @stamps.note(*Gem::Specification.dirs)
        specification = Gem::Specification.find_by_path(feature)
        specification ? with_needed(specification).flat_map(&:full_require_paths) : []
      end

      private

      def named_gemfile
        name = ENV["BUNDLE_GEMFILE"].to_s
        return if name.empty?

        path = File.expand_path(name)
        File.file?(path) ? path : raise(ConfigurationError, "there is no #{path}, which BUNDLE_GEMFILE names")
      end

      def candidates
        above.flat_map { |folder| LOCKS.keys.map { |name| File.join(folder, name) } }
      end

      def file?(path)
        @stamps.note(path)
        File.file?(path)
      end

      def above
        Enumerator.produce(@folder) { |folder| File.dirname(folder) == folder ? raise(StopIteration) : File.dirname(folder) }
      end

      # Asked in a process of its own: Bundler sets up one Gemfile a process, and the application's settings are those of its folder.
      def bundled
        @stamps.note(gemfile, lock, settings)
        environment = { "BUNDLE_GEMFILE" => gemfile, "RUBYOPT" => nil, "BUNDLER_SETUP" => nil }
        output, error, status = Open3.capture3(environment, RbConfig.ruby, BUNDLED, chdir: File.dirname(gemfile))
        raise ConfigurationError, "#{gemfile}: #{error.lines.last.to_s.strip}" unless status.success?

        homes, paths = output.split("\0\0", 2).map { |list| list.split("\0") }
        @stamps.note(*homes)
        paths
      end

      def lock
        File.join(File.dirname(gemfile), LOCKS.fetch(File.basename(gemfile)) { |name| "#{name}.lock" })
      end

      # Of the application alone, as where its gems lie.
      def settings
        File.join(File.expand_path(ENV.fetch("BUNDLE_APP_CONFIG", ".bundle"), File.dirname(gemfile)), "config")
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
