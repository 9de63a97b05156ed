# frozen_string_literal: true

require "open3"
require "rbconfig"

module Upwell
  module Opal
    # Where an application's gems lie: those of its Gemfile, else those that are installed. None is activated: what is compiled need not
    # go together with what compiles it.
    class GemPaths
      # Prints the load paths of a Gemfile's gems, or why they cannot be had.
      BUNDLED = <<~RUBY
        require "bundler"
        begin
          print Bundler.load.specs.flat_map(&:full_require_paths).join("\\0")
        rescue Bundler::BundlerError => e
          abort e.message.lines.first.strip
        end
      RUBY
      private_constant :BUNDLED

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
        @to_a ||= gemfile ? bundled : []
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

      # Asked in a process of its own: Bundler sets up one Gemfile a process, and the application's settings are those of its folder.
      def bundled
        environment = { "BUNDLE_GEMFILE" => gemfile, "RUBYOPT" => nil, "BUNDLER_SETUP" => nil }
        paths, error, status = Open3.capture3(environment, RbConfig.ruby, "-e", BUNDLED, chdir: File.dirname(gemfile))
        return paths.split("\0") if status.success?

        raise ConfigurationError, "#{gemfile}: #{error.lines.last.to_s.strip}; run bundle install"
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
