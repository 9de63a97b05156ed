# frozen_string_literal: true

require_relative "ruby_bytecode_cache"

# Paths of the bundle's gems, for processes that the tests start. Bundler would search for the gems in each process. That search takes longer
# than the rest of a server's start, and RubyGems takes half of the rest.
module BundleGemPaths
  # @param more [Hash{String => String}] of the process; with a Gemfile of its own it has Bundler
  # @return [Hash{String => String, nil}]
  def self.environment(more = {})
    more.key?("BUNDLE_GEMFILE") ? more : { **paths, **more }
  end

  # @param more [Hash{String => String}] of the process
  # @return [Hash{String => String, nil}] for a process that does not need the constant Gem, either
  def self.environment_without_rubygems(more = {})
    return more if more.key?("BUNDLE_GEMFILE")

    environment({ **more, "RUBYOPT" => [more.fetch("RUBYOPT") { paths["RUBYOPT"] }, "--disable=gems"].join(" ") })
  end

  # Before the first test.
  def self.prepare
    RubyBytecodeCache.prepare(environment_without_rubygems) if defined?(Bundler)
  end

  def self.paths
    @paths ||= defined?(Bundler) ? { "RUBYOPT" => options, "RUBYLIB" => folders.join(File::PATH_SEPARATOR), "BUNDLER_SETUP" => nil } : {}
  end
  private_class_method :paths

  def self.options
    [*ENV.fetch("RUBYOPT", "").split.grep_v(%r{/bundler/setup\z}), "-r#{File.join(__dir__, "ruby_bytecode_cache")}"].join(" ")
  end
  private_class_method :options

  def self.folders
    Gem.loaded_specs.each_value.flat_map(&:full_require_paths) + ENV.fetch("RUBYLIB", "").split(File::PATH_SEPARATOR)
  end
  private_class_method :folders
end
