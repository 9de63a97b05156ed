# frozen_string_literal: true

require "bundler"
require "fileutils"

# Gems that are installed where a test wants them, without a network.
module InstalledGem
  # Installs a gem of one file.
  #
  # @param home [String] the folder of installed gems
  # @param source [String] Ruby: what the file of the gem's name has
  def self.put(home, name, version, source)
    specification = Gem::Specification.new do |s|
      s.name = name
      s.version = version
      s.summary = "#{name} of a test"
      s.authors = ["a test"]
      s.files = ["lib/#{name}.rb"]
    end
    file = File.join(home, "gems", specification.full_name, "lib", "#{name}.rb")
    FileUtils.mkdir_p(File.dirname(file))
    File.write(file, source)
    register(home, specification)
  end

  # Installs a gem of those that run the test.
  def self.copy(home, name)
    specification = Gem::Specification.find_by_name(name)
    gems = File.join(home, "gems")
    FileUtils.mkdir_p(gems)
    FileUtils.cp_r(specification.full_gem_path, File.join(gems, specification.full_name))
    copy_extension(home, specification)
    register(home, specification)
  end

  def self.copy_extension(home, specification)
    return unless specification.extensions.any? && File.directory?(specification.extension_dir)

    target = File.join(home, "extensions", Gem::Platform.local.to_s, Gem.extension_api_version)
    FileUtils.mkdir_p(target)
    FileUtils.cp_r(specification.extension_dir, target)
  end
  private_class_method :copy_extension

  def self.register(home, specification)
    folder = File.join(home, "specifications")
    FileUtils.mkdir_p(folder)
    File.write(File.join(folder, "#{specification.full_name}.gemspec"), specification.to_ruby)
  end
  private_class_method :register

  # @param app [String] an application's folder
  # @return [String] where its gems lie after `bundle config set --local path vendor/bundle`, which this does
  def self.vendor(app)
    FileUtils.mkdir_p(File.join(app, ".bundle"))
    File.write(File.join(app, ".bundle", "config"), "---\nBUNDLE_PATH: \"vendor/bundle\"\n")
    File.join(app, "vendor", "bundle", RUBY_ENGINE, RbConfig::CONFIG.fetch("ruby_version"))
  end

  # What a process without this one's bundle is to be given, so that it has the gems of a folder beside those that run the test.
  #
  # @param home [String]
  # @return [Hash{String => String}]
  def self.environment(home)
    homes = Gem.loaded_specs.values.map(&:base_dir)
    { "GEM_HOME" => home, "GEM_PATH" => [home, *homes].uniq.join(File::PATH_SEPARATOR) }
  end
end
