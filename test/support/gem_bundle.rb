# frozen_string_literal: true

require "bundler"
require "fileutils"
require "open3"

# The gems of an application in test/apps, which are not for everybody to install: in tmp, apart for each Ruby, when they are first needed.
module GemBundle
  ROOT = File.expand_path("../..", __dir__)

  # @param name [String] of a folder in test/apps
  # @return [Hash{String => String}] the environment for a process that uses them
  def self.environment(name)
    @environments ||= {}
    @environments[name] ||= install(name, File.join(ROOT, "tmp", "apps", RUBY_VERSION, name))
  end

  def self.install(name, folder)
    FileUtils.mkdir_p(folder)
    FileUtils.cp(File.join(ROOT, "test", "apps", name, "Gemfile"), folder)
    environment = { "BUNDLE_GEMFILE" => File.join(folder, "Gemfile"), "BUNDLE_PATH" => File.join(folder, "vendor"),
                    "BUNDLE_VERSION" => "system" }
    output, status = Bundler.with_unbundled_env { Open3.capture2e(environment, "bundle", "install", "--quiet") }
    raise "bundle install: #{output}" unless status.success?

    environment
  end
  private_class_method :install
end
