# frozen_string_literal: true

require_relative "../configuration"

module Upwell
  module Opal
    # Finds the gem opal, the compiler: a gem that this process can load, or else the one in the application's Gemfile.
    class CompilerGem
      VERSION = "~> 1.8"

      # @param gem_paths [GemPaths] the application's
      def initialize(gem_paths)
        @gem_paths = gem_paths
      end

      # Loads the gem.
      #
      # @return [void]
      # @raise [ConfigurationError] when the gem is missing
      def load
        load_file || load_from_gemfile || raise(ConfigurationError, "the gem opal, which compiles the application, is not installed; #{remedy}")
      end

      private

      def load_file
        require "opal"
        true
      rescue LoadError => e
        raise unless e.path.to_s.match?(/\Aopal\b/)
      end

      def load_from_gemfile
        Gem.use_paths(Gem.dir, Gem.path | @gem_paths.homes)
        load_file
      end

      def remedy
        gemfile = @gem_paths.gemfile
        return "install it: gem install opal -v \"#{VERSION}\"" unless gemfile

        "install it in #{File.dirname(gemfile)}: bundle add opal --version \"#{VERSION}\""
      end
    end
  end
end
