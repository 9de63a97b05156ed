# frozen_string_literal: true

require "tempfile"
require_relative "../support/raw_client"
require_relative "../support/sanitizers"
require_relative "../support/server_process"

# The real command with the extension that the sanitizers watch, what it says, and what the application notes.
class SoakedServer
  APP = File.expand_path("app.ru", __dir__)
  ENVIRONMENT = Sanitizers::ENVIRONMENT.merge("ASAN_OPTIONS" => "#{Sanitizers::ENVIRONMENT["ASAN_OPTIONS"]}:quarantine_size_mb=8")
  STARTS_MAX = 3
  BOOT_MAX = 60 # seconds
  SETTLE_MAX = 60
  STOP_MAX = 60
  ANSWER_MAX = 30
  WHEREABOUTS_WAIT = 2
  DESCRIPTORS_MORE_MAX = 5
  MEMORY_MORE_MAX = 0.25 # of what it was: fragments
  MEMORY_SLACK = 16_384 # KiB

  Failure = Class.new(StandardError)

  # What a process holds when nobody is there.
  State = Struct.new(:descriptors, :memory)

  attr_reader :port, :slowest

  def initialize(mode, backend, workers)
    @log = Tempfile.new("upwell-soak")
    @ledger = Tempfile.new("upwell-soak-ledger")
    @slowest = 0
    STARTS_MAX.times { @port ||= start(mode, backend, workers) }
    raise Failure, "it did not start:\n#{log}" unless port
  end

  # A client that behaves is answered in time.
  def probe(path = "/probe")
    began = now
    response = Timeout.timeout(ANSWER_MAX) { RawClient.request(port, "GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") }
    raise Failure, "#{path} was answered with #{response.inspect}" unless response&.status == 200

    @slowest = [@slowest, now - began].max
    response.body
  rescue SystemCallError, Timeout::Error => e
    raise Failure, "#{path} failed after #{(now - began).round(1)} s: #{e.message}\n#{whereabouts}"
  end

  def replace_workers = Process.kill("USR1", @pid)

  # @return [State] the largest of all processes, once all clients are gone
  def settle
    closed = await(SETTLE_MAX) { 4.times { probe("/collect") } && left_open.empty? }
    raise Failure, "never closed: #{left_open.size}, #{left_open.first(5)}" unless closed

    states = processes.filter_map { |pid| state_of(pid) }
    State.new(states.map(&:descriptors).max, states.map(&:memory).max)
  end

  def compare(before, after)
    if after.descriptors > before.descriptors + DESCRIPTORS_MORE_MAX
      raise Failure, "descriptors: #{before.descriptors}, then #{after.descriptors}: #{processes.map { |pid| open_files(pid) }}"
    end
    return if after.memory < (before.memory * (1 + MEMORY_MORE_MAX)) + MEMORY_SLACK

    raise Failure, "memory: #{before.memory} KiB, then #{after.memory}"
  end

  def end_well
    Process.kill("TERM", @pid)
    status = await(STOP_MAX) { Process.wait2(@pid, Process::WNOHANG)&.last }
    raise Failure, "it did not end within #{STOP_MAX} s of TERM" unless status
    raise Failure, "it ended with #{status}" unless status.success?

    @ended = true
    complain
  end

  # Raises what a sanitizer, the server or a handler's ledger has said.
  def complain
    text = log
    at = text =~ Sanitizers::COMPLAINTS and raise Failure, "it said\n#{text[at, 6000]}"
    unasked = text.lines.grep(/Error|died: /).grep_v(/on purpose/)
    raise Failure, "it said\n#{unasked.first(5).join}" if unasked.any?

    wrong = ledger.grep(/\Awrong/)
    raise Failure, "a handler saw\n#{wrong.first(5).join}, #{wrong.size}" if wrong.any?
  end

  # @return [Integer] workers
  def replaced = log.scan("was replaced").size

  # @return [Integer] clients
  def opened = ledger.count { |line| line.start_with?("open ") }

  def kill
    end_process unless @ended
    [@log, @ledger].each(&:close!)
  rescue Errno::ECHILD
    nil
  end

  private

  # A process that ASan watches may hang once it is forked, as its allocator's lock may have been another thread's: it is ended, and not
  # held against the server. Another worker's successor comes next.
  def start(mode, backend, workers)
    command = [RbConfig.ruby, "-I#{Sanitizers::BUILT}", *ServerProcess.command.drop(1), "-b", "127.0.0.1", "-p", "0", "--mode", mode,
               "--backend", backend, "-w", workers.to_s, "--drain-timeout", "8", "--boot-timeout", BOOT_MAX.to_s, APP]
    @pid = ProcessGroup.spawn({ **ENVIRONMENT, "LEDGER" => @ledger.path }, *command, out: [@log.path, "a"], err: %i[child out])
    await(BOOT_MAX) { log[/serves on https?:\S+:(\d+)/, 1]&.to_i } || (end_process && nil)
  end

  def end_process
    ProcessGroup.kill(@pid)
    Process.wait(@pid)
  end

  # What the processes wait for, and their threads.
  def whereabouts
    said = log.size
    Process.kill("TTIN", @pid)
    sleep(WHEREABOUTS_WAIT)
    told = processes.map { |pid| "#{pid}: #{state_of(pid)} #{File.read("/proc/#{pid}/stat")[/\) (.*?) /, 1]}" }
    [*told, `ss -tnp '( sport = :#{port} )' | grep -v ESTAB`, `ss -tlnp '( sport = :#{port} )'`, log[said, 5000]].join("\n")
  rescue SystemCallError => e
    e.message
  end

  def log = File.read(@log.path, encoding: "BINARY").scrub

  def ledger = File.readlines(@ledger.path)

  def left_open
    ends, begins = ledger.partition { |line| line.start_with?("close ") }
    begins.grep(/\Aopen /).map { |line| line.delete_prefix("open ") } - ends.map { |line| line.delete_prefix("close ") }
  end

  def processes
    [@pid, *File.read("/proc/#{@pid}/task/#{@pid}/children").split.map(&:to_i)]
  end

  def state_of(pid)
    State.new(Dir.children("/proc/#{pid}/fd").size, File.read("/proc/#{pid}/status")[/VmRSS:\s+(\d+)/, 1].to_i)
  rescue SystemCallError
    nil # a worker that has been replaced
  end

  def open_files(pid)
    Dir["/proc/#{pid}/fd/*"].map { |path| File.readlink(path).sub(/\d+/, "") }.tally
  rescue SystemCallError
    {}
  end

  def await(seconds)
    deadline = now + seconds
    loop do
      result = yield
      return result if result || now > deadline

      sleep(0.1)
    end
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
