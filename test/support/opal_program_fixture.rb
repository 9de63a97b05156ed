# frozen_string_literal: true

require "fileutils"
require "open3"
require "tmpdir"
require "upwell/opal/program"
require_relative "opal_process"

# An application in a folder of its own, whose compiled program a process of its own is asked for, as a command does.
module OpalProgramFixture
  SCRIPT = <<~RUBY
    require "upwell/opal/program"
    begin
      puts Upwell::Opal::Program.new(ARGV[0], :node).path
    rescue Upwell::ConfigurationError => e
      puts e.message
    end
    puts defined?(Opal::Compiler) ? "compiled" : "found"
  RUBY

  HELLO = File.join(ServerProcess::ROOT, "examples", "hello", "config.ru")

  class << self
    # One for all tests of a process. It begins with the user's compiled files: what is not the application's own is compiled once.
    def cache
      @cache ||= Dir.mktmpdir.tap do |folder|
        Minitest.after_run { FileUtils.rm_rf(folder) }
        copy_units(File.join(folder, "upwell", "opal", "units"))
      end
    end

    private

    def copy_units(folder)
      Upwell::Opal::Program.new(HELLO, :node).path
      FileUtils.mkdir_p(folder, mode: 0o700)
      FileUtils.cp_r(File.join(Upwell::Opal::Cache.units.folder, "."), folder)
    end
  end

  def setup
    @folder = Dir.mktmpdir
    @cache = OpalProgramFixture.cache
  end

  def teardown
    FileUtils.chmod_R("u+w", @folder)
    FileUtils.rm_rf(@folder)
  end

  def write(name, text)
    path = File.join(@folder, name)
    FileUtils.mkdir_p(File.dirname(path))
    File.write(path, text)
  end

  # @param script [String] Ruby that is run first
  # @param spawn [Hash] options of Process.spawn
  # @return [Array<String>] the program's path, or what is wrong; and whether it was compiled, or found
  def start(app = "app", from: @folder, script: "", environment: {}, **spawn)
    rackup = File.join(@folder, app, "config.ru")
    command = [RbConfig.ruby, "-I", File.expand_path("../../lib", __dir__), "-e", "#{script}\n#{SCRIPT}", rackup]
    environment = { **OpalProcess.environment, "BUNDLE_GEMFILE" => nil, "XDG_CACHE_HOME" => @cache, "TMPDIR" => @folder, **environment }
    output, error, = Open3.capture3(environment, *command, chdir: from, **spawn)
    assert_empty error
    output.lines(chomp: true)
  end

  # @return [String] the program, which had to be compiled
  def assert_compiled(...)
    path, how = start(...)
    assert_equal "compiled", how
    File.binread(path)
  end

  def assert_found(...)
    assert_equal "found", start(...).last
  end
end
