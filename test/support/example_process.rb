# frozen_string_literal: true

require "rbconfig"
require_relative "bundle_gem_paths"
require_relative "process_group"

# An example that listens, as a child process on a free loopback port.
class ExampleProcess
  ROOT = File.expand_path("../..", __dir__)
  START_MAX = 60 # seconds

  attr_reader :port

  # Starts examples/`path`, yields it, ends it, and returns its status.
  def self.open(path, *arguments, environment: {})
    example = new(path, *arguments, environment: environment)
    yield example
    example.stop
  ensure
    example&.kill
  end

  def initialize(path, *arguments, environment: {})
    @output, writer = IO.pipe
    command = [RbConfig.ruby, "-I#{File.join(ROOT, "lib")}", File.join(ROOT, "examples", path), "0", *arguments]
    @pid = ProcessGroup.spawn(BundleGemPaths.environment(environment), *command, out: writer, err: writer)
    writer.close
    @port = Integer(first_line[/listening on \S*:(\d+)$/, 1])
  end

  # @return [Process::Status]
  def stop
    Process.kill("TERM", @pid)
    @status = ProcessGroup.wait(@pid)
  end

  def kill
    @output.close
    return if @status

    Process.kill("KILL", @pid)
    @status = ProcessGroup.wait(@pid)
  end

  private

  def first_line
    raise "the example printed nothing" unless @output.wait_readable(START_MAX)

    @output.gets.tap { |line| raise "#{line}#{@output.read}" unless line&.include?("listening") }
  end
end
