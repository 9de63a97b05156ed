# frozen_string_literal: true

require "pty"
require_relative "../test_helper"

# Where the log goes while its files, folders and readers come and go, for a server without and with workers, of applications and of files.
class LogDestinationTest < Minitest::Test
  HELLO = File.expand_path("../../examples/hello/config.ru", __dir__)
  SERVERS = [[%w[], HELLO], [%w[static], __dir__]].freeze
  WORKERS = [0, 2].freeze
  PATIENCE = 120 # seconds, in which a server with workers may start

  def within(&block)
    Timeout.timeout(PATIENCE, &block)
  end

  def await_text(path, pattern)
    within { sleep 0.02 until File.exist?(path) && File.read(path).match?(pattern) }
  end

  # @yieldparam folder [String] of the log files log and, of a server of files, access
  # @yieldparam processes [Array<Integer>] the server and its workers
  # @yieldparam socket [String]
  def serve(command, served, workers)
    Dir.mktmpdir do |dir|
      socket, folder = %w[socket folder].map { |name| File.join(dir, name) }
      Dir.mkdir(folder)
      access_log = command.empty? ? [] : ["--access-log", "#{folder}/access"]
      arguments = [*command, "-b", "unix:#{socket}", "-w", workers.to_s, "-l", "#{folder}/log", *access_log, served]
      pid = ProcessGroup.spawn(*ServerProcess.spawn_arguments(*arguments))
      await_text("#{folder}/log", /serves on/)
      yield folder, [pid, *File.read("/proc/#{pid}/task/#{pid}/children").split.map(&:to_i)], socket
    ensure
      Process.kill("TERM", pid)
      assert_predicate ProcessGroup.wait(pid), :success?
    end
  end

  # @return [Array<Hash>] of each process, which of its descriptors are files of the folder
  def files(folder, processes)
    processes.map do |pid|
      targets = Dir.children("/proc/#{pid}/fd").to_h { |number| [number, target(pid, number)] }
      targets.select { |_, path| path.start_with?("#{folder}/") }.transform_values { |path| File.basename(path) }
    end
  end

  def target(pid, number)
    File.readlink("/proc/#{pid}/fd/#{number}")
  rescue Errno::ENOENT # closed meanwhile
    ""
  end

  # The log's thread writes to a duplicate of the descriptor that is reopened.
  def reopened(numbers)
    numbers.values.tally.sum { |name, count| name == "access" ? 1 : count }
  end

  # A descriptor 1 or 2 that is free for a moment is the next client's connection, and gets the log.
  def test_a_file_that_cannot_be_opened_again_leaves_the_one_there_is
    SERVERS.product(WORKERS) do |(command, served), workers|
      serve(command, served, workers) do |folder, processes, socket|
        before = files(folder, processes)
        assert(before.all? { |numbers| numbers.values_at("1", "2") == %w[log log] }, before)
        File.rename(folder, "#{folder}.aside")
        Process.kill("HUP", processes.first)
        await_text("#{folder}.aside/log", /(cannot be opened again.*?){#{before.sum { |numbers| reopened(numbers) }}}/m)
        assert_equal before, files("#{folder}.aside", processes)
        Dir.mkdir(folder)
        Process.kill("HUP", processes.first)
        within { sleep 0.02 until files(folder, processes) == before }
        UNIXSocket.open(socket) { |client| client.write("refused\r\n\r\n") && client.read }
        await_text("#{folder}/#{command.empty? ? "log" : "access"}", /refused/)
      end
    end
  end

  # @yieldparam pid [Integer] of a server whose log is a full pipe
  # @yieldparam socket [String]
  # @yieldparam log [IO] to read it after all
  def serve_unread(*arguments)
    Dir.mktmpdir do |dir|
      path, socket, app = %w[log socket config.ru].map { |name| File.join(dir, name) }
      File.write(app, 'run ->(env) { env["PATH_INFO"] == "/" ? [200, {}, []] : raise("on purpose") }')
      File.mkfifo(path)
      File.open(path, "r+") do |log|
        pid = ProcessGroup.spawn(*ServerProcess.spawn_arguments("-b", "unix:#{socket}", "-l", path, *arguments, app))
        within { nil until log.gets.include?("serves on") }
        [4096, 1].each { |bytes| nil until log.write_nonblock("x" * bytes, exception: false) == :wait_writable }
        yield pid, socket, log
        Process.kill("TERM", pid)
        assert_predicate within { ProcessGroup.wait(pid) }, :success?
        pid = nil
      ensure
        pid && Process.kill("KILL", pid) && ProcessGroup.wait(pid)
      end
    end
  end

  def status(socket, path)
    within do
      UNIXSocket.open(socket) do |client|
        client.write("GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        client.read[/\AHTTP\/1.1 (\d+)/, 1]
      end
    end
  end

  def test_requests_and_signals_do_not_wait_for_a_log_that_nobody_reads
    MODES.each do |mode|
      serve_unread("--mode", mode) do |pid, socket, log|
        assert_equal(%w[500 500 500 500 200], %w[/a /b /c /d /].map { |path| status(socket, path) })
        within { nil while log.readpartial(100_000).size == 100_000 || log.wait_readable(0) }
        Process.kill("USR2", pid)
        within { nil until log.gets.match?(/4 log records were dropped/) }
        assert_match(/SIGUSR2/, within { log.gets })
        [4096, 1].each { |bytes| nil until log.write_nonblock("x" * bytes, exception: false) == :wait_writable }
      end
    end
  end

  def test_nor_for_a_terminal_that_nobody_reads
    Dir.mktmpdir do |dir|
      socket, app = %w[socket config.ru].map { |name| File.join(dir, name) }
      File.write(app, "run(->(_) { raise 'text' * 1000 })\n")
      PTY.open do |_reader, terminal|
        pid = ProcessGroup.spawn(*ServerProcess.spawn_arguments("-b", "unix:#{socket}", app), out: terminal, err: terminal)
        within { sleep 0.02 until File.exist?(socket) }
        assert_equal(["500"] * 20, Array.new(20) { status(socket, "/") }) # each is told in 4 kB and more, of which a terminal takes 64
        Process.kill("TERM", pid)
        assert_predicate within { ProcessGroup.wait(pid) }, :success?
        pid = nil
      ensure
        pid && Process.kill("KILL", pid) && ProcessGroup.wait(pid)
      end
    end
  end

  def test_a_supervisor_whose_log_nobody_reads_replaces_workers_and_ends
    serve_unread("-w", "1") do |pid, socket, _|
      children = "/proc/#{pid}/task/#{pid}/children"
      worker = Integer(File.read(children))
      Process.kill("KILL", worker)
      within { sleep 0.02 while ["", worker.to_s].include?(File.read(children).strip) }
      assert_equal "200", status(socket, "/")
    end
  end
end
