# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"

# A client that leaves while a file goes to it ends its own connection only, whatever SIGPIPE would do to the process.
class SigpipeTest < Minitest::Test
  FILE_BYTES = 40_000_000 # more than the sockets' buffers take
  LEAVING = 5
  NO_SIGNAL = "SigBlk:\t#{"0" * 16}\n".freeze # see proc(5)

  def setup
    @dir = Dir.mktmpdir
    @file = File.join(@dir, "file")
    File.write(@file, "f" * FILE_BYTES)
  end

  def teardown
    FileUtils.rm_rf(@dir)
  end

  def each_server(*arguments)
    options = { app: "sigpipe.ru", environment: { "FILE" => @file } }
    each_backend_and_mode do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode, *arguments, **options) { |server| yield server }
    end
  end

  def get(server, path)
    RawClient.get(server.port, path).body
  end

  def ask(server)
    client = RawClient.new(server.port)
    client.write("GET /file HTTP/1.1\r\nHost: a\r\n\r\n")
    client.socket.readpartial(1000)
    client
  end

  # What comes after the end of the client's side is EPIPE for the server, where a reset alone is ECONNRESET.
  def leave(client)
    client.socket.close_write
    client.socket.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii"))
    client.close
  end

  # One by one, and at once; where one takes the file, who left before is dealt with.
  def leave_in_every_way(server)
    LEAVING.times { leave(ask(server)) }
    Array.new(LEAVING) { ask(server) }.each { |client| leave(client) }
    assert_equal FILE_BYTES, get(server, "/file").bytesize
  end

  def test_an_application_that_resets_sigpipe_while_it_serves
    each_server do |server|
      ["SYSTEM_DEFAULT", "EXIT"].each do |action|
        get(server, "/trap?#{action}")
        leave_in_every_way(server)
      end
      assert_predicate server.stop, :success?
    end
  end

  # It gives signs of life, which nobody hears any more.
  def test_a_worker_whose_supervisor_was_killed_finishes_its_requests
    each_server("--workers", "1", "--worker-timeout", "1") do |server|
      server.signal("STOP") # or it kills a worker that the machine holds up
      get(server, "/trap?SYSTEM_DEFAULT")
      RawClient.open(server.port) do |client|
        client.write("GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        answer = client.socket.readpartial(1000)
        server.kill
        assert_match(/\r\n\r\nbegun, ended\z/, answer + client.socket.read)
      end
    end
  end

  def test_files_that_the_application_is_not_asked_for
    each_server("--public", @dir) do |server|
      get(server, "/trap?SYSTEM_DEFAULT")
      leave_in_every_way(server)
    end
  end

  def test_static_files
    BACKENDS.each do |backend|
      ServerProcess.open("--backend", backend, app: @dir, command: ["static"],
                                               environment: { "RUBYOPT" => "-r#{ServerProcess::APPS}/reset_sigpipe" }) { |server| leave_in_every_way(server) }
    end
  end

  RESETTING = { app: "sigpipe.ru", environment: { "RUBYOPT" => "-r#{ServerProcess::APPS}/reset_sigpipe", "FILE" => "" } }.freeze

  def test_a_log_that_nobody_reads_any_more
    MODES.each do |mode|
      ServerProcess.open("--mode", mode, **RESETTING) do |server|
        server.close_output
        2.times { assert_equal 500, RawClient.get(server.port, "/raising").status }
        server.signal("USR1")
        assert_equal server.pid, get(server, "/pid").to_i
        assert_predicate server.stop, :success?
      end
    end
  end

  # The core writes these lines itself.
  def test_a_refusal_where_nobody_reads_the_log_any_more
    each_backend_and_mode do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode, **RESETTING) do |server|
        server.close_output
        3.times { assert_equal 400, RawClient.request(server.port, "x\r\n\r\n").status }
        assert_equal server.pid, get(server, "/pid").to_i
        assert_predicate server.stop, :success?
      end
    end
  end

  def test_a_supervisor_whose_log_nobody_reads_any_more
    ServerProcess.open("-w", "1", **RESETTING) do |server|
      worker = get(server, "/pid").to_i
      server.close_output
      assert_equal 500, RawClient.get(server.port, "/raising").status
      assert_equal [worker], server.workers
      Process.kill("KILL", worker)
      Timeout.timeout(20) { sleep 0.02 until server.workers.any? && server.workers != [worker] }
      refute_equal worker, get(server, "/pid").to_i
      assert_predicate server.stop, :success?
    end
  end

  def test_nothing_is_blocked_in_the_processes_and_threads_of_the_application
    each_server do |server|
      taking = Array.new(LEAVING) { ask(server) }
      20.times do
        taking.each { |client| client.socket.readpartial(FILE_BYTES / 100) }
        assert_equal [NO_SIGNAL, NO_SIGNAL], get(server, "/blocked").lines
      end
      taking.each(&:close)
    end
  end
end
