# frozen_string_literal: true

require "fileutils"
require "tmpdir"
require_relative "../support/process_group"
require_relative "single_request"
require_relative "await"
require_relative "failing_calls_library"

# A server in a folder of its own, with all that an operator gives it: a log, a file for its number, workers or none.
class FaultedServer
  include Await

  ROOT = File.expand_path("../..", __dir__)
  PORTS = (15_000..30_000) # nobody is given one of these by chance
  LARGE = 64 * 1024 * 1024 # bytes, more than the kernel takes ahead
  STOP_MAX = 60 # seconds
  SERVERS = { rack: ["/", "app.ru"], static: ["/index.html", "www"] }.freeze

  # @return [String]
  attr_reader :folder
  # @return [Integer]
  attr_reader :port, :pid

  # @param kind [Symbol] :rack or :static
  # @param workers [Integer]
  # @param closed [Symbol, nil] the stream whose reader is going to leave; there is no log file then
  # @param descriptors [Integer, nil] that each process may have
  # @param options [Array<String>] further ones of the command
  def initialize(kind, workers, closed: nil, descriptors: nil, options: [])
    @kind = kind
    @workers_wanted = workers
    @closed = closed
    @limits = descriptors ? { rlimit_nofile: descriptors } : {}
    @options = options
    @folder = Dir.mktmpdir("upwell-system-faults")
    @port = free_port
    make_files
  end

  # Starts the command, and has it wait at its gate.
  #
  # @param stream_open [Boolean] whether the stream whose reader is going to leave is there at first
  def spawn(stream_open: true)
    reader, @writer = IO.pipe
    @reader = reader
    streams = { out: [file("messages"), "a"], err: [file("messages"), "a"] }
    streams[@closed] = stream_open ? @writer : :close if @closed
    command = [RbConfig.ruby, "-I#{ROOT}/lib", "#{__dir__}/gated_upwell_command.rb", *arguments]
    @pid = ProcessGroup.spawn(environment, *command, **streams, **@limits, chdir: @folder)
    @writer.close
    @gate = open_for_writing(file("gate"))
  end

  # Lets it begin.
  def open_gate
    @gate.close
  end

  def leave_stream
    @reader.close
  end

  def await_listening
    await("somebody who listens on #{@port}") { listening? || ended? }
    expect("it ended with #{@status}: #{messages}", !ended?)
  end

  # A worker that has not been ready yet must not be killed: a server whose first worker cannot start exits.
  def await_workers
    await("#{@workers_wanted} workers") { workers.size == @workers_wanted }
    await("its first line") { messages.include?(" serves ") } unless @closed == :out
  end

  # @return [SingleRequest] whose request is being answered
  def hold
    @held = SingleRequest.new(@port, "/held")
    @kind == :rack ? await("the request that is held") { File.exist?(file("begun")) } : @held.await_begin
  end

  def release
    return unless @held

    File.write(file("go"), "")
    @held.finish
    @held = nil
  end

  # @return [Integer] the process that answers the request that is held
  def holder
    row = File.readlines("/proc/net/tcp").map(&:split).find { |fields| fields[2].end_with?(format(":%04X", @held.port)) && fields[9] != "0" }
    [pid, *workers].find { |process| sockets(process).include?("socket:[#{row[9]}]") }
  end

  # @return [Array<Integer>] of the server's processes
  def workers
    File.read("/proc/#{pid}/task/#{pid}/children").split.map(&:to_i)
  rescue SystemCallError
    []
  end

  def signal(name, process = pid)
    Process.kill(name, process)
  end

  # @return [Process::Status]
  def await_end
    await("the end of the server", STOP_MAX) { ended? }
    @status
  end

  def ended?
    _, @status = Process.wait2(pid, Process::WNOHANG) unless @status
    !@status.nil?
  end

  # @return [String] all that it has told
  def messages
    [*Dir[file("messages")], *Dir[file("kept/**/log*")].select { |path| File.file?(path) }].map { |path| File.binread(path) }.join
  end

  # @return [String] where a page is
  def page
    SERVERS.fetch(@kind).first
  end

  # @return [Array<String>] where all pages are
  def pages
    @kind == :rack ? [page, "/slow"] : [page]
  end

  def file(name)
    File.join(@folder, name)
  end

  def remove
    @held = nil
    ProcessGroup.kill(pid) if pid
    Process.wait(pid) if pid && !@status
    [@reader, @gate].compact.each { |io| io.close unless io.closed? }
    FileUtils.rm_rf(@folder)
  end

  private

  # Which waits for the reader; a child of another cell may end meanwhile.
  def open_for_writing(fifo)
    File.open(fifo, "w")
  rescue Errno::EINTR
    retry
  end

  def make_files
    %w[kept kept/log kept/run failing www].each { |name| Dir.mkdir(file(name)) }
    File.mkfifo(file("gate"))
    FileUtils.cp(File.join(__dir__, "app.ru"), @folder)
    File.write(file("www/index.html"), "index")
    File.open(file("www/held"), "w") { |large| large.truncate(LARGE) }
  end

  def environment
    { **FailingCallsLibrary.environment(file("failing")), "GATE" => file("gate"), "FOLDER" => @folder }
  end

  def arguments
    log = @closed ? [] : ["-l", file("kept/log/log")]
    access = @kind == :static && !@closed ? ["--access-log", file("kept/log/log.access")] : []
    command = @kind == :static ? %w[static] : []
    [*command, "-b", "127.0.0.1", "-p", @port.to_s, "-w", @workers_wanted.to_s, "-P", file("kept/run/pid"), *log, *access, *@options,
     file(SERVERS.fetch(@kind).last)]
  end

  def free_port
    port = rand(PORTS)
    TCPServer.new("127.0.0.1", port).close
    port
  rescue Errno::EADDRINUSE
    retry
  end

  def listening?
    TCPSocket.new("127.0.0.1", @port).close
    true
  rescue Errno::ECONNREFUSED
    false
  end

  def sockets(process)
    Dir.glob("/proc/#{process}/fd/*").filter_map { |path| File.readlink(path) if File.symlink?(path) }
  rescue Errno::ENOENT
    []
  end
end
