# frozen_string_literal: true

require "English"
require "rbconfig"
require_relative "../configuration"
require_relative "stamps"

module Upwell
  module Opal
    # Finds an application's gems: those of its Gemfile, or else the installed ones. No gem is activated, since the program's gems may conflict
    # with the compiler's.
    class GemPaths
      # Names of a Gemfile and its lock file.
      LOCKS = { "Gemfile" => "Gemfile.lock", "gems.rb" => "gems.locked" }.freeze
      BUNDLED = File.join(__dir__, "gem_paths", "bundled.rb")

      # @return [Array] environment values that affect the paths
      def self.settings
        [Gem.path, ENV.select { |name, _value| name.start_with?("BUNDLE_") }.sort]
      end

      # @param folder [String] the application's directory; its Gemfile is there or in a parent directory
      # @param stamps [Stamps] receives all files that affect the paths
      def initialize(folder, stamps = Stamps.new)
        @folder = folder
        @stamps = stamps
      end

      # @return [String, nil] the Gemfile's path
      def gemfile
        return @gemfile if defined?(@gemfile)

        @gemfile = named_gemfile || candidates.find { |path| file?(path) }
      end

      # @return [Array<String>] the load paths of the Gemfile's gems
      def to_a
        @to_a ||= gemfile ? bundled : []
      end

      # @return [Array<String>] the directories of installed gems that Bundler searches for the Gemfile
      def homes
        to_a
        @specifications.to_a.map { |folder| File.dirname(folder) }
      end

      # Finds a gem by feature. Without a Gemfile, the newest installed gem with the feature is used, as in Ruby's `require`.
      #
      # @param feature [String] the argument of `require`
      # @return [Array<String>] the load paths of that gem and its dependencies; none when there is no such gem
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
        File.file?(path) ? path : raise(ConfigurationError, "#{path} does not exist, but BUNDLE_GEMFILE names it; correct BUNDLE_GEMFILE")
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

      def bundled
        @stamps.note(gemfile, lock, settings)
        @specifications, paths = ask_bundler.split("\0\0", 2).map { |list| list.split("\0") }
        @stamps.note(*@specifications)
        paths
      end

      # A separate process asks Bundler, which supports one Gemfile per process and reads the settings of the working directory.
      def ask_bundler
        environment = { "BUNDLE_GEMFILE" => gemfile, "RUBYOPT" => nil, "BUNDLER_SETUP" => nil }
        output = IO.popen([environment, RbConfig.ruby, BUNDLED, { err: File::NULL, chdir: File.dirname(gemfile) }], &:read)
        raise ConfigurationError, "the gems of #{gemfile} cannot be loaded: #{output}" unless $CHILD_STATUS.success?

        output
      end

      def lock
        File.join(File.dirname(gemfile), LOCKS.fetch(File.basename(gemfile)) { |name| "#{name}.lock" })
      end

      # Settings of the application only; they affect where its gems are.
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
