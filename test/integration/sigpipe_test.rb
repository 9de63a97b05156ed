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
    BACKENDS.product(MODES) do |backend, mode|
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
