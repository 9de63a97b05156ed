# frozen_string_literal: true

require "fileutils"
require "open3"
require "tmpdir"

# An application in a folder of its own, whose compiled program a process of its own is asked for, as a command does.
module ProgramStarts
  SCRIPT = <<~RUBY
    require "upwell/opal/program"
    begin
      puts Upwell::Opal::Program.new(ARGV[0], :node).path
    rescue Upwell::ConfigurationError => e
      puts e.message
    end
    puts defined?(Opal::Compiler) ? "compiled" : "found"
  RUBY

  # One for all tests of a process: what is not the application's own is compiled once.
  def self.cache
    @cache ||= Dir.mktmpdir.tap { |folder| Minitest.after_run { FileUtils.rm_rf(folder) } }
  end

  def setup
    @folder = Dir.mktmpdir
    @cache = ProgramStarts.cache
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
    environment = { "XDG_CACHE_HOME" => @cache, "TMPDIR" => @folder }.merge(environment)
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
