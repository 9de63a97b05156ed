# frozen_string_literal: true

require_relative "../test_helper"

# Where the log goes while its files, folders and readers come and go, for a server without and with workers, of applications and of files.
class LogTest < Minitest::Test
  HELLO = File.expand_path("../../examples/hello/config.ru", __dir__)
  SERVERS = [[%w[], HELLO], [%w[static], __dir__]].freeze
  WORKERS = [0, 2].freeze

  def within(&block)
    Timeout.timeout(20, &block)
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
      pid = Process.spawn(*ServerProcess.command(*arguments))
      await_text("#{folder}/log", /serves on/)
      yield folder, [pid, *File.read("/proc/#{pid}/task/#{pid}/children").split.map(&:to_i)], socket
    ensure
      Process.kill("TERM", pid)
      assert_predicate Process.wait2(pid).last, :success?
    end
  end

  # @return [Array<Hash>] of each process, which of its descriptors are files of the folder
  def files(folder, processes)
    processes.map do |pid|
      Dir.glob("/proc/#{pid}/fd/*").to_h { |link| [File.basename(link), File.readlink(link)] }
        .select { |_, path| path.start_with?("#{folder}/") }.transform_values { |path| File.basename(path) }
    end
  end

  # A descriptor 1 or 2 that is free for a moment is the next client's connection, and gets the log.
  def test_a_file_that_cannot_be_opened_again_leaves_the_one_there_is
    SERVERS.product(WORKERS) do |(command, served), workers|
      serve(command, served, workers) do |folder, processes, socket|
        before = files(folder, processes)
        assert(before.all? { |numbers| numbers.values_at("1", "2") == %w[log log] }, before)
        File.rename(folder, "#{folder}.aside")
        Process.kill("HUP", processes.first)
        await_text("#{folder}.aside/log", /(cannot be opened again.*?){#{before.sum(&:size)}}/m)
        assert_equal before, files("#{folder}.aside", processes)
        Dir.mkdir(folder)
        Process.kill("HUP", processes.first)
        within { sleep 0.02 until files(folder, processes) == before }
        UNIXSocket.open(socket) { |client| client.write("refused\r\n\r\n") && client.read }
        await_text("#{folder}/#{command.empty? ? "log" : "access"}", /refused/)
      end
    end
  end
end
