# frozen_string_literal: true

require "bundler"
require "fileutils"
require "open3"

# Gems of the applications in test/apps: in tmp, apart for each Ruby, installed when a test first needs them. All applications share one folder,
# so what several of them need is compiled once.
module GemBundle
  ROOT = File.expand_path("../..", __dir__)
  APPS = File.join(ROOT, "tmp", "apps", RUBY_VERSION)
  GEMS = File.join(APPS, "gems")

  # @param name [String] of a folder in test/apps
  # @return [Hash{String => String}] the environment for a process that uses them
  def self.environment(name)
    @environments ||= {}
    @environments[name] ||= install(name, File.join(APPS, name))
  end

  def self.install(name, folder)
    FileUtils.mkdir_p(folder)
    FileUtils.cp(File.join(ROOT, "test", "apps", name, "Gemfile"), folder)
    environment = { "BUNDLE_GEMFILE" => File.join(folder, "Gemfile"), "BUNDLE_PATH" => GEMS, "BUNDLE_VERSION" => "system" }
    output, status = one_at_a_time { Bundler.with_unbundled_env { Open3.capture2e(environment, "bundle", "install", "--quiet") } }
    raise "bundle install: #{output}" unless status.success?

    environment
  end
  private_class_method :install

  # Tests run in several processes.
  def self.one_at_a_time
    File.open(File.join(APPS, "lock"), "w") do |lock|
      lock.flock(File::LOCK_EX)
      yield
    end
  end
  private_class_method :one_at_a_time
end
