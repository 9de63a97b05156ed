# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/held_request_app"

# The supervisor and its workers, with applications that boot slowly, fail, or hold a request.
class ClusterTest < Minitest::Test
  PATIENCE = 120 # seconds, in which several workers may boot

  def within(&block)
    Timeout.timeout(PATIENCE, &block)
  end

  def cluster(*arguments)
    HeldRequestApp.open do |app|
      ServerProcess.open("-w", "2", *arguments, app: app.path) { |server| within { yield server, app } }
    end
  end

  def get(server, path = "/")
    RawClient.get(server.port, path).body
  end

  # @return [Thread] with the answer of a request that the application has begun
  def hold(server, app)
    thread = Thread.new { get(server, "/held") }
    app.await_begun
    thread
  end

  # Ctrl-C and a stop by systemd reach a command that is not ready yet, too.
  def spawn_booting(app, *arguments)
    app.hang_at_boot
    pid = ProcessGroup.spawn(*ServerProcess.spawn_arguments("-b", "127.0.0.1", "-p", "0", *arguments, app.path))
    within do
      app.await_booting
      yield pid
      ProcessGroup.wait(pid)
    end
  end

  def test_sigterm_finishes_what_is_in_flight
    BACKENDS.each do |backend|
      cluster("--backend", backend) do |server, app|
        assert_match(/\(#{backend}, fibers\), 2 workers/, server.lines.last)
        held = hold(server, app)
        server.signal("TERM")
        app.release
        assert_match(/\Afirst \d+\z/, held.value)
        assert_equal 0, server.await_end.exitstatus
      end
    end
  end

  def test_a_second_signal_ends_at_once
    cluster("--mode", "threads:1") do |server, app|
      held = hold(server, app)
      held.report_on_exception = false
      server.signal("TERM")
      sleep 0.02 until server.workers.size == 1 # obeyed: the idle worker has ended
      server.force
      server.await(/SIGTERM: stopping the workers.*at most 30 s; a second signal after 1 s kills them/)
      server.await(/exiting with requests in flight/)
      assert_equal 1, server.await_end.exitstatus
      assert_raises(NoMethodError, SystemCallError) { held.value } # no response
    end
  end

  def test_a_worker_that_does_not_finish_is_killed
    cluster("--mode", "inline", "--drain-timeout", "0.1") do |server, app|
      held = hold(server, app)
      held.report_on_exception = false
      server.workers.each { |pid| Process.kill("STOP", pid) } # else it would end itself
      server.signal("TERM")
      server.await(/killing worker process \d+: its requests did not finish within [\d.]+ s; raise --drain-timeout/)
      assert_equal 1, server.await_end.exitstatus
      assert_raises(NoMethodError, SystemCallError) { held.value }
    end
  end

  def test_signals_while_the_workers_boot
    %w[TERM INT].each do |signal|
      HeldRequestApp.open do |app|
        assert_equal(0, spawn_booting(app, "-w", "1") { |pid| Process.kill(signal, pid) }.exitstatus)
      end
    end
  end

  def test_an_interrupt_while_one_process_boots
    HeldRequestApp.open do |app|
      status = spawn_booting(app, "-P", app.file("pid")) { |pid| Process.kill("INT", pid) }
      assert_equal 130, status.exitstatus
      refute_path_exists app.file("pid")
    end
  end

  def test_a_phased_restart_runs_the_new_code
    cluster do |server, app|
      assert_match(/\Afirst/, get(server))
      app.boot('VERSION = "second"')
      server.signal("USR1")
      server.await(/worker 0 was replaced/)
      server.await(/worker 1 was replaced/)
      10.times { assert_match(/\Asecond/, get(server)) }
      assert_equal 0, server.stop.exitstatus
    end
  end

  # @return [Array(Integer, Thread)] the old worker, which drains, and the answer that it still owes
  def restart_while_held(server, app)
    old = server.workers.first
    held = hold(server, app)
    server.signal("USR1")
    server.await(/worker 0: finishing the request in flight/)
    [old, held]
  end

  def test_a_phased_restart_lets_a_request_in_flight_finish
    cluster("-w", "1") do |server, app|
      old, held = restart_while_held(server, app)
      app.release
      assert_equal "first #{old}", held.value
      server.await(/worker 0 was replaced \(#{old} by (\d+)\)/)
      assert_equal "first #{server.workers.first}", get(server)
    end
  end

  # The old worker accepts nobody any more, and its client may stay for long.
  def test_a_successor_that_dies_while_the_old_worker_drains_is_replaced_at_once
    cluster("-w", "1") do |server, app|
      app.boot('VERSION = "second"')
      old, held = restart_while_held(server, app)
      Process.kill("KILL", (server.workers - [old]).first)
      server.await(/worker 0 \(\d+\) died: .*SIGKILL.*starting another in/)
      successor = get(server)[/\Asecond (\d+)/, 1]
      app.release
      assert_equal "first #{old}", held.value
      server.await(/worker 0 was replaced \(#{old} by #{successor}\)/)
      assert_equal 0, server.stop.exitstatus
    end
  end

  def test_a_successor_that_dies_again_and_again_is_started_until_it_works
    cluster("-w", "1") do |server, app|
      old, held = restart_while_held(server, app)
      app.boot("raise 'not today'")
      Process.kill("KILL", (server.workers - [old]).first)
      2.times { server.await(/worker 0 \(\d+\) died: .*exit 1; starting another in/) }
      app.release
      assert_equal "first #{old}", held.value
      server.await(/worker 0 \(\d+\) died: .*exit 1; starting another in/)
      app.boot('VERSION = "second"')
      assert_match(/\Asecond/, get(server))
      assert_equal 0, server.stop.exitstatus
    end
  end

  # As an operator does, or what watches its memory. The main thread's call would be interrupted by the signal.
  def test_a_worker_that_is_told_to_end_is_replaced_at_once
    cluster("-w", "1", "--mode", "threads:2") do |server, app|
      old = server.workers.first
      held = hold(server, app)
      app.boot('VERSION = "second"')
      Process.kill("TERM", old)
      server.await(/worker 0 \(#{old}\) received a stop signal; starting another in 0\.2 s/)
      sleep 0.02 until (successor = get(server)[/\Asecond (\d+)/, 1])
      app.release
      assert_equal "first #{old}", held.value
      server.await(/worker 0 was replaced \(#{old} by #{successor}\)/)
      Process.kill("TERM", successor.to_i)
      server.await(/worker 0 \(#{successor}\) received a stop signal; starting another in 0\.4 s/)
      sleep 0.02 while get(server).include?(successor)
      assert_equal 0, server.stop.exitstatus
    end
  end

  def test_signals_that_a_preloaded_application_has_taken
    HeldRequestApp.open do |app|
      app.boot('VERSION = "first"; %w[HUP USR1 USR2 TTIN CHLD TERM INT].each { |name| trap(name, "DEFAULT") }')
      ServerProcess.open("-w", "1", "--preload", app: app.path) do |server|
        %w[HUP TTIN USR1].each { |name| server.signal(name) }
        within { server.await(/worker 0 was replaced/) }
        assert_equal 0, server.stop.exitstatus
      end
    end
  end

  def test_a_restart_that_fails_keeps_the_old_workers
    cluster do |server, app|
      before = server.workers
      app.boot("raise 'not today'")
      server.signal("USR1")
      server.await(/not today/)
      server.await(/the new worker 0 could not start; the old worker keeps serving/)
      assert_equal before, server.workers
      assert_match(/\Afirst/, get(server))
    end
  end

  def test_sigterm_is_obeyed_in_the_midst_of_a_restart
    cluster("--boot-timeout", "300") do |server, app|
      app.hang_at_boot
      server.signal("USR1")
      app.await_booting
      assert_equal 0, server.stop.exitstatus
    end
  end

  def test_a_worker_that_dies_again_and_again_is_started_until_it_works
    cluster("-w", "1") do |server, app|
      app.boot("raise 'not today'")
      Process.kill("KILL", server.workers.first)
      server.await(/died: .*SIGKILL.*starting another in 0\.2 s/)
      server.await(/died: .*exit 1; starting another in 0\.4 s/)
      app.boot('VERSION = "second"')
      assert_match(/\Asecond/, get(server)) # waited in the slot's backlog
    end
  end

  def test_sigterm_while_a_worker_waits_to_be_started
    cluster("-w", "1") do |server, app|
      app.boot("raise 'not today'")
      Process.kill("KILL", server.workers.first)
      server.await(/exit 1; starting another in 0\.8 s/)
      assert_equal 0, server.stop.exitstatus
    end
  end

  def test_the_port_of_another_cluster_is_refused
    cluster do |server, app|
      output, status = Open3.capture2e(*ServerProcess.spawn_arguments("-w", "2", "-b", "127.0.0.1", "-p", server.port.to_s, app.path))
      assert_match(/the port #{server.port} is taken/, output)
      assert_equal 1, status.exitstatus
    end
  end

  def test_sighup_opens_the_log_of_the_workers_again
    HeldRequestApp.open do |app|
      log = app.file("log")
      config = app.file("upwell.rb")
      File.write(config, "workers 2\nafter_fork { |index| warn \"after fork \#{index}\" }\nbefore_fork { warn 'before fork' }\n")
      socket = app.file("socket")
      pid = ProcessGroup.spawn(*ServerProcess.spawn_arguments("-b", "unix:#{socket}", "-C", config, "-l", log, app.path))
      await_text(log, /serves on/)
      assert_equal ["after fork 0", "after fork 1", "before fork"], File.readlines(log, chomp: true).grep(/fork/).sort
      File.rename(log, "#{log}.1")
      Process.kill("HUP", pid)
      await_request_in(log, socket)
    ensure
      Process.kill("TERM", pid)
      assert_predicate ProcessGroup.wait(pid), :success?
      refute_path_exists socket
    end
  end

  def await_text(path, pattern)
    within { sleep 0.02 until File.exist?(path) && File.read(path).match?(pattern) }
  end

  # Asks until a worker has written to the new log.
  def await_request_in(log, socket)
    within do
      until File.exist?(log) && File.read(log).include?("asked for /again")
        UNIXSocket.open(socket) do |client|
          client.write("GET /again HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
          client.read
        end
      end
    end
  end

  def test_a_worker_that_makes_a_daemon_of_itself_leaves_nobody_behind
    HeldRequestApp.open do |app|
      config = app.file("upwell.rb")
      File.write(config, "after_fork { Process.daemon(true, true); File.write(#{app.file("daemon_").inspect} + Process.pid.to_s, '') }\n")
      command = ServerProcess.spawn_arguments("-w", "2", "-b", "127.0.0.1", "-p", "0", "-C", config, app.path)
      output, status = within { Open3.capture2e(*command) } # until the daemons, too, have closed their output
      assert_match(/worker \d forked while it started/, output)
      assert_equal 1, status.exitstatus
    ensure
      Dir.glob(app.file("daemon_*")) { |path| end_process(path[/\d+\z/].to_i) }
    end
  end

  def test_what_before_fork_has_forked_is_no_second_supervisor
    HeldRequestApp.open do |app|
      config = app.file("upwell.rb")
      File.write(config, "before_fork { Process.wait(fork || next) }\n")
      ServerProcess.open("-w", "2", "-C", config, app: app.path) do |server|
        assert(server.lines.any? { |line| line.include?("the supervisor was forked, and the forked process exits") })
        assert_match(/\Afirst/, get(server))
        assert_equal 0, server.stop.exitstatus
      end
    end
  end

  def end_process(pid)
    Process.kill("KILL", pid)
  rescue Errno::ESRCH
    nil
  end

  def test_a_worker_holds_neither_the_ports_nor_the_pipes_of_its_siblings
    cluster do |server, _app|
      server.workers.each { |pid| assert_equal 1, listening(pid, server.port).size }
    end
  end

  # @return [Array<String>] the process's sockets that listen on the port
  def listening(pid, port)
    rows = File.readlines("/proc/#{pid}/net/tcp").map(&:split).select { |row| row[3] == "0A" && row[1].end_with?(format(":%04X", port)) }
    inodes = rows.map { |row| "socket:[#{row[9]}]" }
    Dir.glob("/proc/#{pid}/fd/*").filter_map { |path| File.readlink(path) if File.exist?(path) || File.symlink?(path) } & inodes
  end

  def test_no_zombie_is_left
    cluster do |server, _app|
      victims = server.workers
      victims.each { |pid| Process.kill("KILL", pid) }
      2.times { server.await(/died: .*SIGKILL/) }
      sleep 0.02 until server.workers.size == 2
      assert_empty victims & server.workers
    end
  end
end
