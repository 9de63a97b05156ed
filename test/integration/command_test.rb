# frozen_string_literal: true

require_relative "../test_helper"

# The command as an operator meets it: messages, files, signals, workers.
class CommandTest < Minitest::Test
  HELLO = File.expand_path("../../examples/hello/config.ru", __dir__)
  TEXT = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
  PATIENCE = 120 # seconds, in which a server with workers may start

  def command(*arguments, env: {})
    output, status = Open3.capture2e(*ServerProcess.spawn_arguments(*arguments, environment: env))
    [output, status.exitstatus]
  end

  def test_help_version_and_check
    assert_match(/--head-timeout SECONDS.*\[10\]/, command("--help").first)
    assert_equal ["upwell #{Upwell::VERSION}\n", 0], command("--version")
    assert_match(/#{BACKENDS.last} +works/, command("--check").first)
  end

  def test_each_mistake_gets_one_clear_sentence_and_a_failure
    Dir.mktmpdir do |dir|
      broken = File.join(dir, "config.ru")
      File.write(broken, "raise 'on purpose'")
      TCPServer.open("127.0.0.1", 0) do |taken|
        port = taken.addr[1].to_s
        {
          ["/nowhere/config.ru"] => %r{/nowhere/config.ru does not exist}, ["--mode", "fast", HELLO] => /mode: must be fibers, inline, fibers:N/,
          ["--mode", "fibers:0", HELLO] => /fibers:N with N from 1/, ["-p", "70000", HELLO] => /port from 0 to 65535, got "70000"/,
          ["--backend", "devpoll", HELLO] => /must be a backend that works here: .*#{BACKENDS.last}/, ["--zip"] => /invalid option: --zip/,
          ["-b", "127.0.0.1", "-p", port, HELLO] => /the port #{port} is taken/, ["-l", "/nowhere/log", HELLO] => /log file \/nowhere\/log/,
          ["-p", "0", "-b", "127.0.0.1", broken] => /on purpose.*raised RuntimeError while loading/m,
          ["-w", "2", "-p", "0", "-b", "127.0.0.1", broken] => /worker \d could not start/, ["--head-timeout", "0", HELLO] => /seconds above 0/
        }.each do |arguments, message|
          output, status = command(*arguments)
          assert_match message, output
          refute_equal 0, status, arguments.join(" ")
        end
      end
    end
  end

  # Bundler takes a closed pipe for a success.
  def test_a_mistake_that_nobody_can_be_told_of_has_its_status
    File.open("/dev/full", "w") do |full|
      reader, closed = IO.pipe
      reader.close
      [full, closed].each do |stream|
        { "/nowhere/config.ru" => 1, "--zip" => 2, "--version" => 1 }.each do |argument, status|
          [ServerProcess.spawn_arguments(argument), ["bundle", "exec", *ServerProcess.command(argument)]].each do |start|
            pid = ProcessGroup.spawn(*start, out: stream, err: stream)
            assert_equal status, ProcessGroup.wait(pid).exitstatus, start.inspect
          end
        end
      end
    end
  end

  def test_what_cannot_be_printed_is_told_in_one_line
    reader, closed = IO.pipe
    reader.close
    { File.open("/dev/full", "w") => "the disk is full", closed => "the program that reads it has ended" }.each do |stream, reason|
      %w[--version --help --check].each do |option|
        told, teller = IO.pipe
        pid = ProcessGroup.spawn(*ServerProcess.spawn_arguments(option), out: stream, err: teller)
        teller.close
        assert_equal "upwell: cannot write to standard output: #{reason}\n", told.read
        assert_equal 1, ProcessGroup.wait(pid).exitstatus
      end
    end
  end

  # `run App` for `run App.new`: Ruby 3.1 cannot tell the message of a NoMethodError that no Ruby code raised.
  def test_an_application_that_cannot_be_called_is_told_in_every_mode
    Dir.mktmpdir do |dir|
      path = File.join(dir, "config.ru")
      File.write(path, "class App; end\nrun App\n")
      MODES.each do |mode|
        ServerProcess.open("--mode", mode, app: path) do |server|
          assert_equal 500, RawClient.get(server.port, "/a").status
          server.await(/\A\d{4}-\d\d-\d\dT[\d:]{8}Z upwell\[#{server.pid}\]: Error during GET \/a: .*undefined method .call' .*App/)
        end
      end
    end
  end

  def test_an_unusable_backend_in_the_environment_names_those_that_work
    output, status = command(HELLO, env: { "UPWELL_BACKEND" => "nothing" })
    assert_match(/UPWELL_BACKEND.*#{BACKENDS.last}/m, output)
    assert_equal 1, status
  end

  def test_configuration_file_pid_file_and_log_file
    Dir.mktmpdir do |dir|
      log, pid, config = %w[log pid config.rb].map { |name| File.join(dir, name) }
      File.write(config, "head_timeout 5\nmode 'threads:2'\npid_file #{pid.inspect}\n")
      ServerProcess.open("-C", config) do |server|
        assert_match(/threads:2/, server.lines.last)
        assert_equal server.pid, File.read(pid).to_i
        assert_match(/belongs to the running process #{server.pid}/, command("-P", pid, "-p", "0", HELLO).first)
        assert_predicate server.stop, :success?
        refute_path_exists pid
      end
      refute_path_exists log
    end
  end

  # Here the application has broken it.
  def test_a_signal_that_cannot_be_obeyed_is_named
    Dir.mktmpdir do |folder|
      app = File.join(folder, "config.ru")
      File.write(app, "def (Upwell::Server::Logs::Backtraces).tell = raise('a mistake')\nrun ->(_) { [200, {}, []] }\n")
      ServerProcess.open(app: app) do |server|
        server.signal("TTIN")
        server.await(/Error while handling SIGTTIN; the server keeps running: .*a mistake/)
        assert_predicate server.stop, :success?
      end
    end
  end

  def test_sighup_opens_the_log_again
    Dir.mktmpdir do |dir|
      log = File.join(dir, "log")
      pid = ProcessGroup.spawn(*ServerProcess.spawn_arguments("-b", "127.0.0.1", "-p", "0", "-l", log, HELLO))
      Timeout.timeout(PATIENCE) { sleep 0.02 until File.exist?(log) && File.read(log).include?("serves on") }
      File.rename(log, "#{log}.1")
      Process.kill("HUP", pid)
      Timeout.timeout(PATIENCE) { sleep 0.02 until File.exist?(log) }
    ensure
      Process.kill("TERM", pid)
      ProcessGroup.wait(pid)
    end
  end

  # A disk that is full keeps no server from starting again, nor a worker from being replaced.
  def test_a_log_that_cannot_be_written
    [[], ["-w", "1"]].each do |arguments|
      Dir.mktmpdir do |dir|
        path = File.join(dir, "socket")
        pid = ProcessGroup.spawn(*ServerProcess.spawn_arguments("-b", "unix:#{path}", *arguments, HELLO), out: "/dev/full", err: "/dev/full")
        assert_match(/\AHTTP\/1.1 200 OK/, ask_through(path))
        Process.kill("TERM", pid)
        assert_predicate ProcessGroup.wait(pid), :success?
      end
    end
  end

  def ask_through(path)
    Timeout.timeout(PATIENCE) do
      sleep 0.02 until File.socket?(path)
      UNIXSocket.open(path) do |client|
        client.write(TEXT)
        client.readpartial(1000)
      end
    rescue Errno::ECONNREFUSED # bound, and not listened on yet
      retry
    end
  end

  def test_unix_socket
    Dir.mktmpdir do |dir|
      path = File.join(dir, "socket")
      UNIXServer.new(path).close # what a killed server leaves behind
      pid = ProcessGroup.spawn(*ServerProcess.spawn_arguments("-b", "unix:#{path}", HELLO), out: File::NULL)
      Timeout.timeout(PATIENCE) do
        client = begin
          UNIXSocket.new(path)
        rescue SystemCallError
          sleep 0.02
          retry
        end
        client.write(TEXT)
        assert_match(/\AHTTP\/1.1 200 OK/, client.readpartial(1000))
        client.close
      end
      Process.kill("TERM", pid)
      ProcessGroup.wait(pid)
      refute_path_exists path
    end
  end

  def test_a_unix_socket_in_the_folder_that_the_application_leaves
    [[], ["-w", "1", "--preload"]].each do |arguments|
      Dir.mktmpdir do |dir|
        File.write(File.join(dir, "config.ru"), "Dir.chdir('/')\nrun ->(_) { [200, {}, []] }\n")
        pid = ProcessGroup.spawn(*ServerProcess.spawn_arguments("-b", "unix:socket", *arguments), chdir: dir, out: File::NULL)
        assert_match(/\AHTTP\/1.1 200 OK/, ask_through("#{dir}/socket"))
        Process.kill("TERM", pid)
        assert_predicate ProcessGroup.wait(pid), :success?
        refute_path_exists "#{dir}/socket"
      end
    end
  end

  def requests_in_flight(server, count)
    clients = Array.new(count) { RawClient.new(server.port) }
    clients.each { |client| client.write(TEXT.sub("/", "/sleep-a-while")) }
    yield
    clients.map { |client| client.response&.body }
  ensure
    clients&.each(&:close)
  end

  # Its request is answered when nothing else happens any more.
  def test_a_client_that_left_does_not_hold_up_the_end
    BACKENDS.each do |backend|
      ServerProcess.open("--backend", backend, "--mode", "fibers") do |server|
        client = RawClient.new(server.port)
        client.write(TEXT.sub("/", "/sleep-a-while"))
        RawClient.get(server.port, "/") # by now the other has been accepted
        server.signal("TERM")
        client.socket.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii"))
        client.close
        assert_predicate server.await_end, :success?, backend
      end
    end
  end

  def test_sigterm_finishes_what_is_in_flight
    BACKENDS.each do |backend|
      ServerProcess.open("--backend", backend, "--mode", "threads:100") do |server|
        bodies = requests_in_flight(server, 100) do
          RawClient.get(server.port, "/") # by now the others have been accepted
          server.signal("TERM")
        end
        assert_equal ["slept"] * 100, bodies
        assert_predicate server.await_end, :success?
      end
    end
  end

  # The application has the loop's thread: those who come meanwhile wait in the kernel, connected but not accepted.
  def test_sigterm_serves_who_waits_to_be_accepted
    BACKENDS.each do |backend|
      ServerProcess.open("--backend", backend, "--mode", "inline") do |server|
        bodies = requests_in_flight(server, 4) { server.signal("TERM") }
        assert_equal ["slept"] * 4, bodies, backend
        assert_predicate server.await_end, :success?
      end
    end
  end

  def test_a_second_signal_ends_at_once_and_leaves_nothing_behind
    Dir.mktmpdir do |folder|
      ServerProcess.open("--mode", "threads:1", "--pid-file", "#{folder}/pid", environment: { "XDG_RUNTIME_DIR" => folder }) do |server|
        assert_equal 2, Dir.children(folder).size
        requests_in_flight(server, 4) do
          server.signal("TERM")
          await_refusal(server.port) # the first signal has been obeyed
          server.force
          assert_equal 1, server.await_end.exitstatus
          break
        end
        assert_empty Dir.children(folder)
      end
    end
  end

  def test_a_worker_that_dies_is_replaced
    ServerProcess.open("-w", "2") do |server|
      victim = server.workers.first
      Process.kill("KILL", victim)
      server.await(/\(#{victim}\) died: .*SIGKILL/)
      Timeout.timeout(PATIENCE) { sleep 0.02 until server.workers.size == 2 && !server.workers.include?(victim) }
      assert_equal 200, RawClient.get(server.port, "/").status
      assert_predicate server.stop, :success?
    end
  end

  def test_workers_do_not_outlive_their_supervisor
    ServerProcess.open("-w", "2") do |server|
      workers = server.workers
      server.kill
      Timeout.timeout(PATIENCE) { sleep 0.02 while workers.any? { |pid| File.exist?("/proc/#{pid}") } }
    end
  end

  def test_phased_restart_under_load_fails_no_request
    ServerProcess.open("-w", "2") do |server|
      before = server.workers
      stop = false
      threads = Array.new(4) { Thread.new { request_repeatedly(server.port) { stop } } }
      server.signal("USR1")
      server.await(/worker 1 was replaced/)
      stop = true
      assert_equal [200], threads.flat_map(&:value).uniq
      assert_empty before & server.workers
      assert_predicate server.stop, :success?
    end
  end

  # Asks until nobody answers: the first signal has been obeyed.
  def await_refusal(port)
    Timeout.timeout(PATIENCE) { sleep 0.02 until unanswered?(port) }
  end

  def unanswered?(port)
    RawClient.open(port) do |client|
      client.write(TEXT)
      client.socket.wait_readable(0.2).nil?
    end
  rescue SystemCallError
    true
  end

  # Keeps connections as long as the server lets it. Returns the statuses.
  def request_repeatedly(port)
    statuses = []
    until yield
      client ||= RawClient.new(port)
      client.write(TEXT)
      response = client.response
      statuses << response&.status
      next unless response.nil? || response.headers["connection"] == ["close"]

      client.close
      client = nil
    end
    statuses
  end
end
