# frozen_string_literal: true

require "rubygems/package"

# Gems that need no compiler. For CRuby on Linux: Zig compiles for the other machine, Debian has its Rubies and libraries. For JRuby: only Ruby.
module Native
  RUBIES = %w[3.1 3.3 3.4].freeze # that Debian has
  LACKED = %w[3.2].freeze # between them: it is given the gem that is compiled where it is installed
  PATCH_LEVELS = (0..19)
  # By RubyGems' names.
  PLATFORMS = {
    "x86_64-linux-gnu" => { rubies: RUBIES, debian: "amd64", zig: "x86_64-linux-gnu.2.34" },
    "aarch64-linux-gnu" => { rubies: RUBIES, debian: "arm64", zig: "aarch64-linux-gnu.2.34" },
    "x86_64-linux-musl" => { rubies: %w[3.4], debian: "musl", zig: "x86_64-linux-musl" },
    "java" => { rubies: [] }
  }.freeze

  # What is compiled, for one platform, and the gem of it.
  class Build
    include Rake::FileUtilsExt

    def initialize(platform)
      @platform = platform
      @machine = PLATFORMS.fetch(platform)
      @folder = File.expand_path("../tmp/native/#{platform}", __dir__)
      @bin = File.expand_path("../bin", __dir__)
    end

    # @return [String] path of the gem
    def gem
      @machine[:rubies].each { |ruby| extension(ruby) }
      package
    end

    # @param ruby [String] one of RUBIES
    # @return [String] path of the extension for it
    def extension(ruby)
      forget_what_changed
      path = File.join(@folder, "lib/upwell", ruby, "upwell.so")
      compile(ruby, path) unless FileUtils.uptodate?(path, FileList["{core,ext,native}/**/*.{c,h,rb,map}"])
      path
    end

    private

    # What was compiled for another target, by another Zig, or with other libraries is made anew.
    def forget_what_changed
      made_for = File.join(@folder, "made_for")
      wanted = [@machine, File.mtime("#{targets}/.complete"), *[__FILE__, "#{@bin}/zig"].map { |path| File.read(path) }].join("\n")
      return if File.exist?(made_for) && File.read(made_for) == wanted

      rm_rf @folder, verbose: false
      mkdir_p @folder, verbose: false
      File.write(made_for, wanted)
    end

    # @return [String] the folder of that machine's Rubies and libraries
    def targets
      @targets ||= IO.popen(["#{@bin}/targets", @machine[:debian]], &:read).chomp.tap do
        abort "rake native: bin/targets #{@machine[:debian]} has failed" unless Process.last_status.success?
      end
    end

    # It gets its name when it is whole: what has the name is taken for up to date.
    def compile(ruby, path)
      build(ruby, folder = File.join(@folder, ruby))
      mkdir_p File.dirname(path), verbose: false
      cp File.join(folder, "upwell.so"), "#{path}.new", verbose: false
      mv "#{path}.new", path, verbose: false
    end

    def build(ruby, folder)
      mkdir_p folder, verbose: false
      Dir.chdir(folder) do
        target = File.expand_path("target.rb", __dir__)
        sh environment(ruby), "ruby", "-r", target, File.expand_path("../ext/upwell/extconf.rb", __dir__), out: "extconf.log", verbose: false
        sh "make", "-j#{Etc.nprocessors}", "LIBRUBYARG_SHARED=", "LIBRUBYARG_STATIC=", out: "make.log", verbose: false # libruby is there
      end
    end

    def environment(ruby)
      { "UPWELL_TARGET" => @machine[:zig], "UPWELL_ROOT" => "#{targets}/#{ruby}", "UPWELL_LIBRARIES" => "#{targets}/libraries",
        "BUNDLER_SETUP" => nil, "RUBYOPT" => nil }
    end

    # The files are those of the gem that is compiled where it is installed, without the sources in C.
    def package
      specification = specification(Gem::Specification.load("upwell.gemspec").dup) # each platform has one of its own
      specification.files.each { |file| copy(file) }
      built = Dir.chdir(@folder) { Gem::DefaultUserInteraction.use_ui(Gem::SilentUI.new) { Gem::Package.build(specification) } }
      mkdir_p "pkg", verbose: false
      mv File.join(@folder, built), "pkg", verbose: false
      File.join("pkg", built)
    end

    def specification(specification)
      rubies = @machine[:rubies]
      specification.platform = Gem::Platform.new(@platform.split("-")) # old versions of RubyGems drop "gnu" from a String
      specification.extensions = []
      specification.files = specification.files.grep_v(%r{\A(core|ext)/}) + rubies.map { |ruby| "lib/upwell/#{ruby}/upwell.so" }
      specification.required_ruby_version = versions(rubies) if rubies.any?
      specification
    end

    def versions(rubies)
      lacked = LACKED.select { |ruby| ruby > rubies.first }.flat_map { |ruby| PATCH_LEVELS.map { |level| "!= #{ruby}.#{level}" } }
      [">= #{rubies.first}", "< #{rubies.last.succ}.dev", *lacked]
    end

    def copy(file)
      place = File.join(@folder, file)
      return if file.end_with?(".so")

      mkdir_p File.dirname(place), verbose: false
      cp file, place, verbose: false
    end
  end

  # Runs tests in Ruby with the extension that is compiled for another Ruby, in a copy of what they need.
  class Tests
    include Rake::FileUtilsExt

    OF_THE_BUNDLE = %w[NCPU RUBYOPT GEM_HOME GEM_PATH BUNDLE_GEMFILE BUNDLER_SETUP].to_h { |name| [name, nil] }.freeze

    # @param platform [String] by RubyGems' name
    # @param ruby [String] one that there is a compiled extension for
    # @param command [Array<String>] what runs that Ruby
    def initialize(platform, ruby, command)
      @platform = platform
      @ruby = ruby
      @command = command
      @copy = File.expand_path("tmp/#{platform}")
    end

    # @param names [Array<String>] of files below test/, without what they all end with
    def run(*names)
      copy
      gems = %w[minitest rack mini_mime].flat_map { |name| Gem::Specification.find_by_name(name).full_require_paths }
      tests = names.map { |name| "require '#{@copy}/test/#{name}_test'" }
      sh({ **OF_THE_BUNDLE, "RUBYLIB" => ["#{@copy}/lib", "#{@copy}/test", *gems].join(":") }, *@command, "-rupwell",
         "-e", "abort Upwell::LOAD_ERROR.full_message if defined?(Upwell::LOAD_ERROR)", "-e", tests.join(";"), verbose: false)
    end

    private

    def copy
      rm_rf @copy, verbose: false
      mkdir_p "#{@copy}/lib/upwell/#{@ruby}", verbose: false
      cp_r %w[exe lib test], @copy, verbose: false
      cp Build.new(@platform).extension(@ruby), "#{@copy}/lib/upwell/#{@ruby}", verbose: false
      rm_f "#{@copy}/lib/upwell/upwell.so", verbose: false
    end
  end
end

desc "Build the gems that need no compiler into pkg/ (PLATFORMS=x86_64-linux-musl,java; Debian on x86-64, npm)"
task :native do
  ENV.fetch("PLATFORMS", Native::PLATFORMS.keys.join(",")).split(",").each { |platform| puts Native::Build.new(platform).gem }
end

desc "Test that the gems of rake native install without a compiler and serve: each with each Ruby that it is for"
Rake::TestTask.new("test:native") do |test|
  test.pattern = "test/native/*_test.rb"
  test.warning = false
end
