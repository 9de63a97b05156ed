# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/static_files_fixture"

# The backend io_uring_sqpoll: a thread of the kernel takes what the loop submits.
class SqpollTest < Minitest::Test
  def setup
    reason = Upwell.backends.find { |backend| backend[:name] == POLLED_BACKEND }[:reason]
    skip reason if reason
    @folder = StaticFilesFixture.new
  end

  def teardown
    @folder&.remove
  end

  # @return [Array<String>] names of the process's threads, the kernel's threads among them
  def threads(server)
    Dir["/proc/#{server.pid}/task/*/comm"].filter_map { |path| name_of(path) }
  end

  # @return [String, nil] nil: the thread has ended meanwhile
  def name_of(path)
    File.read(path).chomp
  rescue Errno::ENOENT, Errno::ESRCH
    nil
  end

  def assert_serves(server, targets)
    assert_includes server.lines.join, "(#{POLLED_BACKEND}, "
    RawClient.open(server.port) do |client|
      sequence = targets.keys * 10
      client.write(sequence.map { |target| "GET #{target} HTTP/1.1\r\nHost: test\r\n\r\n" }.join)
      sequence.each { |target| assert_equal targets[target], client.response.body.bytesize, target }
    end
    refute_empty threads(server).grep(/\Aiou-sqp-/) # named when it first runs, so looked at after an answer
    assert_predicate server.stop, :success?
  end

  def test_static_files
    ServerProcess.open("--backend", POLLED_BACKEND, app: @folder.path, command: ["static"]) do |server|
      assert_serves(server, "/a.txt" => 10, "/large.bin" => StaticFilesFixture::LARGE_BYTES)
    end
  end

  def test_applications_in_every_mode
    MODES.each do |mode|
      ServerProcess.open("--backend", POLLED_BACKEND, "--mode", mode, "--public", @folder.path, app: "public_files.ru") do |server|
        assert_serves(server, "/app" => 8, "/a.txt" => 10, "/large.bin" => StaticFilesFixture::LARGE_BYTES)
      end
    end
  end

  def test_it_is_never_chosen_unasked
    refute_equal POLLED_BACKEND, Upwell::Loop.new.backend
  end

  def test_a_single_processor_is_too_few
    command = ServerProcess.command("static", "--backend", POLLED_BACKEND, @folder.path)
    output, status = Open3.capture2e("taskset", "--cpu-list", first_processor, *command)
    assert_equal 1, status.exitstatus
    assert_match(/backend io_uring_sqpoll does not work here: .*polling thread needs a processor of its own.*; choose another/, output)
  end

  def first_processor
    File.read("/proc/self/status")[/^Cpus_allowed_list:\s*(\d+)/, 1]
  end
end
