# frozen_string_literal: true

require "open3"
require "rbconfig"
require "tmpdir"
require "timeout"
require_relative "bundle_gem_paths"
require_relative "test_results_by_backend"
require_relative "failure_diagnostics"
require_relative "process_group"

# The real command as a child process, on a free loopback port.
class ServerProcess
  ROOT = File.expand_path("../..", __dir__)
  EXE = File.join(ROOT, "exe", "upwell")
  APPS = File.join(ROOT, "test", "support")
  START_MAX = 180 # seconds: on a JavaScript runtime the first compiles all there is, perhaps beside others that do
  LINE_MAX = 60
  STOP_MAX = 60
  # Seconds, longer than the tests wait: no time-out of the server's ends for them what should have ended by itself.
  PATIENT = %w[--head-timeout 120 --keep-alive-timeout 120 --write-timeout 120].freeze

  # @return [Integer]
  attr_reader :pid
  # @return [Array<String>] what the process printed so far
  attr_reader :lines

  # Starts a server, yields it, and ends it, and whatever it has forked.
  def self.open(*arguments, **options)
    server = new(*arguments, **options)
    yield server
  rescue Minitest::Skip
    raise
  rescue Minitest::Assertion, StandardError
    warn(server.last_look) if server
    raise
  ensure
    server&.end_all
  end

  def self.command(*arguments)
    [RbConfig.ruby, "-I#{File.join(ROOT, "lib")}", EXE, *arguments]
  end

  # The command for tests that start it themselves.
  #
  # @param arguments [Array<String>] of the command
  # @param environment [Hash{String => String}] beside this process's own
  # @param prefix [Array<String>] a command that starts this one
  # @return [Array] arguments of Process.spawn and of Open3's methods
  def self.spawn_arguments(*arguments, environment: {}, prefix: [])
    [BundleGemPaths.environment_without_rubygems(environment), *prefix, *command(*arguments)]
  end

  # @param app [String] what is served: of test/support, or a path
  # @param command [Array<String>] which command of upwell
  # @param environment [Hash{String => String}] beside this process's own
  # @param spawn [Hash{Symbol => Object}] further options of Process.spawn
  # @param prefix [Array<String>] a command that becomes this one
  # @param bind [Array<String>] the options for its address
  def initialize(*arguments, app: "app.ru", command: [], environment: {}, spawn: {}, prefix: [], bind: %w[-b 127.0.0.1 -p 0])
    @lines = []
    @output, writer = IO.pipe(Encoding::UTF_8) # in any locale
    path = File.exist?(app) ? app : File.join(APPS, app)
    all = [*prefix, *self.class.command(*command, *bind, *arguments, path)]
    @pid = ProcessGroup.spawn(with_gems(environment), *all, out: writer, err: writer, **spawn)
    writer.close
    serves = await(/serves on (?:https?:\S+:(\d+)|unix)(?:.* \((\w+))?/, START_MAX)
    @port = serves[1].to_i
    TestResultsByBackend.on(@backend = serves[2])
  rescue StandardError
    end_all
    raise
  end

  # Whoever asks runs on the server's backend.
  #
  # @return [Integer]
  def port
    TestResultsByBackend.on(@backend)
    @port
  end

  # Waits until a line matches, for so many seconds.
  #
  # @return [MatchData]
  def await(pattern, seconds = LINE_MAX)
    deadline = now + seconds
    loop do
      line = next_line(deadline, pattern)
      @lines << line
      match = line.match(pattern)
      return match if match
    end
  end

  # Reads what is printed from now on in a thread of its own, where more is than a pipe holds.
  #
  # @return [self]
  def read_on
    Thread.new { @output.each_line { |line| @lines << line } }
    self
  end

  def signal(name)
    Process.kill(name, pid)
  end

  # Has it end at once, by a signal that comes too late to mean the same as the one before.
  #
  # @param name [String]
  def force(name = "TERM", whom = pid)
    sleep Upwell::Server::Control::Commands::SAME_STOP
    Process.kill(name, whom)
  end

  # From now on nobody reads what is printed.
  def close_output
    @output.close
  end

  # @return [Process::Status]
  def stop(name = "TERM")
    signal(name)
    await_end
  end

  # @return [Process::Status]
  def await_end
    deadline = now + STOP_MAX
    loop do
      _, @status = Process.wait2(pid, Process::WNOHANG)
      return drain_output && @status if @status
      raise "the server did not end:\n#{@lines.join}" if now > deadline

      @output.closed? ? sleep(0.02) : IO.select([@output], nil, nil, 0.02) && drain_output
    end
  end

  # Not its workers.
  def kill
    return if @status

    Process.kill("KILL", pid)
    _, @status = Process.wait2(pid)
  end

  # And whatever it has forked.
  def end_all
    ProcessGroup.kill(pid)
    kill
  end

  # @return [Array<Integer>] the supervisor's workers
  def workers
    File.read("/proc/#{pid}/task/#{pid}/children").split.map(&:to_i)
  end

  def descriptors
    Dir.children("/proc/#{pid}/fd").size
  end

  # @return [Array<String>] what its descriptors are, for whoever reads of a failure
  def open_files
    Dir.children("/proc/#{pid}/fd").map { |number| "#{number} #{File.readlink("/proc/#{pid}/fd/#{number}")}" }
  end

  # @return [FailureDiagnostics] at what it does, which does not what it should
  def last_look
    drain_output
    FailureDiagnostics.new(pid, port, @lines)
  end

  private

  def with_gems(environment)
    BundleGemPaths.environment_without_rubygems(environment)
  end

  def next_line(deadline, pattern)
    raise "no line matched #{pattern} in time:\n#{@lines.join}" unless @output.wait_readable([deadline - now, 0].max)

    @output.gets || raise("the server ended before a line matched #{pattern}:\n#{@lines.join}")
  end

  # As far as there is something. Returns true.
  def drain_output
    loop { @lines << @output.read_nonblock(65_536) } unless @output.closed?
    true
  rescue IO::WaitReadable, EOFError
    true
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
