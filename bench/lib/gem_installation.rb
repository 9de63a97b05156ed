# frozen_string_literal: true

require "fileutils"
require "open3"
require "rbconfig"

module Bench
  ROOT = File.expand_path("../..", __dir__)

  # One candidate's gems, in a folder of their own outside the tree, so that one which cannot be installed hinders no other.
  # Upwell is built from the checkout and installed as its users get it.
  class GemInstallation
    Error = Class.new(StandardError)

    CACHE = File.join(ENV.fetch("XDG_CACHE_HOME") { File.join(Dir.home, ".cache") }, "upwell", "bench", "ruby-#{RUBY_VERSION}")
    CAUSE_MAX = 300 # characters
    SOURCES = "{core,ext,lib,exe,opal}/**/*.{c,h,rb,js}"

    attr_reader :gem_name, :folder

    # @param gem_name [String, nil] nil for what needs Ruby alone
    # @param version [String, nil] of it; nil: the newest
    # @param companions [Array<String>] gems that the measured program needs beside it; "name:version" for one of that version
    # @param build [Hash{String => String}] environment of gem install, what a peer needs to compile
    # @param folder [String] its name in the cache, or a path
    # @param checkout [String] the tree that Upwell is built from
    def initialize(gem_name, version: nil, companions: [], build: {}, folder: gem_name, checkout: ROOT)
      @gem_name = gem_name
      @version = version
      @companions = companions
      @folder = File.expand_path(folder, CACHE)
      @build = build
      @checkout = checkout
    end

    # @param checkout [String] another tree of Upwell
    # @return [GemInstallation] the same from there, in a folder of its own
    def of(checkout)
      GemInstallation.new(@gem_name, version: @version, companions: @companions, build: @build, folder: "#{@folder}-before", checkout: checkout)
    end

    # @return [String]
    def name
      @gem_name || "Ruby"
    end

    # Two of one folder are the same.
    def eql?(other)
      other.is_a?(self.class) && folder == other.folder
    end

    def hash
      folder.hash
    end

    # @raise [Error] with what gem said
    def install
      FileUtils.mkdir_p(@folder)
      alone { @gem_name == "upwell" ? install_checkout : install_gems([@gem_name, @version].compact.join(":"), *@companions) }
    end

    # @return [Hash{String => String}] makes a command find these gems and no others
    def environment
      { "GEM_HOME" => @folder, "GEM_PATH" => @folder, "PATH" => path, "RUBYOPT" => nil, "RUBYLIB" => nil, "BUNDLE_GEMFILE" => nil,
        "BUNDLER_SETUP" => nil }
    end

    # @return [String] of the server and of what it runs on
    def versions
      specifications = Dir[File.join(@folder, "specifications", "*.gemspec")].map { |file| File.basename(file, ".gemspec") }
      names = [@gem_name, *@companions].compact.map { |name| name[/\A[^:]+/] }
      named = specifications.grep(/\A(?:#{Regexp.union(*names)})-\d/)
      named.map { |name| name.sub(/-(?=\d)/, " ") }.sort_by { |name| name.start_with?(@gem_name) ? 0 : 1 }.join(", ")
    end

    private

    def path
      [File.join(@folder, "bin"), RbConfig::CONFIG["bindir"], ENV.fetch("PATH")].join(":")
    end

    # Two runs at once would write over each other.
    def alone
      File.open(File.join(@folder, "lock"), File::CREAT | File::RDWR) do |lock|
        lock.flock(File::LOCK_EX)
        yield
      end
    end

    def install_checkout
      stamp = File.join(@folder, "installed")
      return if current?(stamp)

      package = File.join(@folder, "upwell.gem")
      gem("build", "--silent", "--output", package, "upwell.gemspec")
      install_gems(*@companions)
      install_gems(package, "--force")
      File.write(stamp, @checkout)
    end

    # Of these sources, not of another checkout's.
    def current?(stamp)
      sources = Dir[SOURCES, base: @checkout].map { |file| File.join(@checkout, file) }
      File.exist?(stamp) && File.read(stamp) == @checkout && FileUtils.uptodate?(stamp, sources)
    end

    def install_gems(*arguments)
      wanted = arguments.compact.reject(&:empty?)
      gem("install", "--no-document", "--conservative", "--install-dir", @folder, *wanted) if wanted.any?
    end

    def gem(*arguments)
      output, status = Open3.capture2e({ **environment, **@build }, "gem", *arguments, chdir: @checkout)
      raise Error, "does not install: #{cause(output)}" unless status.success?
    end

    # What the compiler objects to, else what gem does.
    def cause(output)
      lines = output.lines.map { |line| line.scrub.strip }.reject(&:empty?)
      (lines.grep(/\berror: /).first || (lines.grep(/error/i).first(2) | lines.last(1)).join(" / ")).slice(0, CAUSE_MAX)
    end
  end
end
