# frozen_string_literal: true

require "bundler"
require "fileutils"
require "open3"
require "tmpdir"
require_relative "app_process"

# An application of this folder, its gems, and the servers of it. The gems stay in a cache outside the tree, apart for each Ruby. The lock file
# stays in tmp, also apart for each Ruby. The application writes into a copy of its code.
class Application
  FOLDER = File.expand_path("..", __dir__)
  CACHE = File.join(ENV.fetch("XDG_CACHE_HOME") { File.join(Dir.home, ".cache") }, "upwell", "apps")
  GEMS = File.join(CACHE, "ruby-#{RUBY_VERSION[/\A\d+\.\d+/]}")
  BUNDLES = File.expand_path("../../tmp/bundles/#{RUBY_VERSION}", FOLDER) # copies of the Gemfiles, and their lock files

  # @return [Application] with the newest Rails for this Ruby, of those that are here
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
      one_at_a_time do
        copy_gemfile
        run("bundle", "install", "--quiet") unless installed?
      end
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

  # @return [String, nil] of a gem that it uses
  def version_of(gem)
    return unless File.exist?("#{gemfile}.lock") # the installation failed

    File.read("#{gemfile}.lock")[/^    #{gem} \(([^)]*?)(?:-x86_64.*)?\)$/, 1]
  end

  def environment
    { "BUNDLE_GEMFILE" => gemfile, "BUNDLE_PATH" => GEMS, "BUNDLE_SILENCE_ROOT_WARNING" => "1", "BUNDLE_VERSION" => "system",
      "RACK_ENV" => "production", "RAILS_ENV" => "production" }
  end

  private

  def gemfile
    File.join(BUNDLES, @name, "Gemfile")
  end

  # Copies the Gemfile to where Bundler may write the lock file: two Rubies at once have one each.
  def copy_gemfile
    folder = File.join(@root, @name)
    text = File.read(File.join(folder, "Gemfile")).sub(/(?<=path: ")[^"]+/) { |path| File.expand_path(path, folder) }
    return if File.exist?(gemfile) && File.read(gemfile) == text

    FileUtils.mkdir_p(File.dirname(gemfile))
    File.write(gemfile, text)
  end

  # Processes of several checkouts share the gems.
  def one_at_a_time
    FileUtils.mkdir_p(CACHE)
    File.open("#{GEMS}.lock", "w") do |lock|
      lock.flock(File::LOCK_EX)
      yield
    end
  end

  def installed?
    unbundled { system(environment, "bundle", "check", out: File::NULL, err: File::NULL, chdir: folder) }
  end

  # Its own gems, not those of the tests.
  def unbundled(&block)
    Bundler.with_unbundled_env(&block)
  end
end
