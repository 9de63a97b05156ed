# frozen_string_literal: true

require "bundler"
require "fileutils"
require "open3"
require "tmpdir"
require_relative "app_process"

# An application of this folder, its gems, and the servers of it. Its gems stay in a cache outside the tree, apart for each Ruby; what it
# writes, in a copy of its code.
class App
  FOLDER = File.expand_path("..", __dir__)
  CACHE = File.join(ENV.fetch("XDG_CACHE_HOME") { File.join(Dir.home, ".cache") }, "upwell", "apps")
  GEMS = File.join(CACHE, "ruby-#{RUBY_VERSION[/\A\d+\.\d+/]}")

  # @return [App] with the newest Rails for this Ruby, of those that are here
  def self.rails(**options)
    new(RUBY_VERSION < "3.2" ? "rails7" : "rails8", **options)
  end

  # @return [String]
  attr_reader :name
  # @return [String] the copy of the code
  attr_reader :folder

  # @param name [String] of the folder with its Gemfile
  # @param code [String] of the folder with its code
  # @param prepare [Array<String>, nil] a command for each new copy
  # @param root [String] where these folders are
  def initialize(name, code: name, prepare: nil, root: FOLDER)
    @name = name
    @root = root
    @code = code
    @prepare = prepare
  end

  # Installs its gems and yields it, with a copy of its code that is removed then.
  def open
    Dir.mktmpdir("upwell-app") do |folder|
      @folder = folder
      FileUtils.cp_r(File.join(@root, @code, "."), folder)
      run("bundle", "install", "--quiet") unless installed?
      run("bundle", "exec", *@prepare) if @prepare
      yield self
    end
  end

  # Runs a command of its bundle to its end.
  #
  # @return [String] what it printed
  def run(*command, environment: {})
    output, status = unbundled { Open3.capture2e(self.environment.merge(environment), *command, chdir: folder) }
    status.success? ? output : raise("#{command.join(" ")} of #{name} failed:\n#{output}")
  end

  # Serves it, yields the server, and ends that.
  def serve(*command, environment: {}, &block)
    unbundled { AppProcess.open(self.environment.merge(environment), command, folder, &block) }
  end

  # @return [String] of a gem that it uses
  def version_of(gem)
    File.read("#{gemfile}.lock")[/^    #{gem} \(([^)]*?)(?:-x86_64.*)?\)$/, 1]
  end

  def environment
    { "BUNDLE_GEMFILE" => gemfile, "BUNDLE_PATH" => GEMS, "BUNDLE_SILENCE_ROOT_WARNING" => "1", "BUNDLE_VERSION" => "system",
      "RACK_ENV" => "production", "RAILS_ENV" => "production" }
  end

  private

  def gemfile
    File.join(@root, @name, "Gemfile")
  end

  def installed?
    unbundled { system(environment, "bundle", "check", out: File::NULL, err: File::NULL, chdir: folder) }
  end

  # Its own gems, not those of the tests.
  def unbundled(&block)
    Bundler.with_unbundled_env(&block)
  end
end
