# frozen_string_literal: true

require_relative "../test_helper"

# What supervisor and workers show of themselves, and what becomes of a worker that hangs.
class SupervisionTest < Minitest::Test
  PATIENCE = 30 # seconds
  APP = <<~'RUBY'
    held = ->(_) { warn("begun") || sleep }
    computing = ->(_) { finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 3; nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish }
    locked = lambda do |_| # read(2) of what nobody writes to
      path = File.join(__dir__, "fifo")
      File.mkfifo(path)
      File.open(path, "r+") { |fifo| syscall(RUBY_PLATFORM.match?(/aarch64|arm64/) ? 63 : 0, fifo.fileno, +" ", 1) }
    end
    forked = ->(_) { Process.wait2(fork { Process.kill("TERM", Process.pid); sleep 10 }).last.termsig }
    run(lambda do |env|
      result = { "/held" => held, "/computing" => computing, "/forked" => forked, "/locked" => locked }.fetch(env["PATH_INFO"], :itself.to_proc).call(env)
      [200, { "content-type" => "text/plain" }, ["#{Process.pid} #{result}"]]
    end)
  RUBY

  def serve(*arguments)
    Dir.mktmpdir do |directory|
      path = File.join(directory, "config.ru")
      File.write(path, APP)
      ServerProcess.open(*arguments, app: path) { |server| Timeout.timeout(PATIENCE) { yield server } }
    end
  end

  def title(pid)
    File.read("/proc/#{pid}/cmdline").delete("\0").strip
  end

  def await
    sleep 0.02 until yield
  end

  # A request that is not answered before the block has ended.
  def ask(server, path)
    client = RawClient.new(server.port)
    client.write("GET #{path} HTTP/1.1\r\nHost: a\r\n\r\n")
    yield client
  ensure
    client&.close
  end

  def test_titles
    app = File.basename(Dir.pwd)
    serve("-w", "2") do |server|
      assert_equal "upwell: supervisor [#{app}]", title(server.pid)
      assert_equal ["upwell: worker 0 [#{app}]", "upwell: worker 1 [#{app}]"], (server.workers.map { |pid| title(pid) })
      ask(server, "/held") do
        server.await(/begun/)
        server.signal("TERM")
        server.await(/worker \d: finishing the request in flight, for at most 30 s: GET \/held of 127\.0\.0\.1 for \d+\.\d s/)
        assert_equal "upwell: supervisor, draining [#{app}]", title(server.pid)
        await { server.workers.map { |pid| title(pid)[/\d, draining/] }.compact.any? }
      end
    end
  end

  def test_a_worker_that_is_stopped_is_replaced
    ["-w 1", "-w 1 --mode threads:2"].each do |options|
      serve(*options.split, "--worker-timeout", "1") do |server|
        victim = server.workers.first
        Process.kill("STOP", victim)
        await { Dir.glob("/proc/#{victim}/task/*/status").all? { |path| File.read(path).match?(/State:\s+T/) } }
        ask(server, "/") do |client| # waits in the backlog for the next worker
          server.await(/process #{victim} has given no sign of life for 1 s and is killed/)
          server.await(/worker 0 \(#{victim}\) died: .*SIGKILL.*; another is started/)
          refute_equal victim, client.response.body.to_i
        end
      end
    end
  end

  # Within a system call that keeps Ruby's lock, as a C extension may.
  def test_a_worker_whose_ruby_is_locked_is_replaced
    serve("-w", "1", "--mode", "threads:2", "--worker-timeout", "1") do |server|
      victim = server.workers.first
      ask(server, "/locked") do
        server.await(/process #{victim} has given no sign of life for 1 s and is killed/)
        server.await(/worker 0 \(#{victim}\) died: .*SIGKILL/) # its loop accepts until then
        refute_equal victim, RawClient.get(server.port, "/").body.to_i
      end
    end
  end

  def test_a_worker_that_computes_is_not_hung
    %w[inline fibers].each do |mode|
      serve("-w", "1", "--mode", mode, "--worker-timeout", "1") do |server|
        worker = server.workers.first
        assert_equal worker, RawClient.get(server.port, "/computing").body.to_i
        assert_equal [worker], server.workers
      end
    end
  end

  # No descriptors, for a while: the others go on, and the worker comes back.
  def test_a_worker_that_cannot_be_started_does_not_end_the_others
    serve("-w", "2") do |server|
      victim, other = server.workers
      limit(server, "3:#{Process.getrlimit(:NOFILE).last}")
      Process.kill("KILL", victim)
      server.await(/worker \d cannot be started: the process may have no more descriptors .*; tried again in/)
      server.signal("USR1")
      server.await(/worker \d is not replaced: the process may have no more descriptors/)
      assert_equal [other], server.workers
      limit(server, Process.getrlimit(:NOFILE).join(":"))
      await { server.workers.size == 2 }
      assert_predicate server.stop, :success?
    end
  end

  def limit(server, descriptors)
    assert system("prlimit", "--pid", server.pid.to_s, "--nofile=#{descriptors}")
  end

  # A thread of a preloaded application lives in the supervisor, and may wait for any child.
  def test_a_worker_that_the_application_has_waited_for_is_replaced
    Dir.mktmpdir do |folder|
      app = File.join(folder, "config.ru")
      File.write(app, "Thread.new { loop { Process.wait rescue sleep 0.01 } }\nrun ->(_) { [200, {}, [Process.pid.to_s]] }\n")
      ServerProcess.open("-w", "2", "--preload", app: app) do |server|
        victim, other = server.workers
        Process.kill("KILL", victim)
        server.await(/\(#{victim}\) died: .*; another is started/)
        Timeout.timeout(PATIENCE) { await { server.workers.size == 2 } }
        assert_includes server.workers, other
        server.stop
      end
    end
  end

  # Here the application has broken it.
  def test_a_supervisor_that_fails_leaves_requests_to_be_finished
    Dir.mktmpdir do |folder|
      app = File.join(folder, "config.ru")
      breaking = "class Upwell::Server::Cluster\n  def obey(_) = raise('a mistake')\nend\n"
      File.write(app, "#{breaking}run ->(_) { warn('begun'); sleep 0.02 until File.exist?('#{folder}/go'); [200, {}, ['finished']] }\n")
      ServerProcess.open("-w", "1", "--preload", app: app) do |server|
        ask(server, "/") do |client|
          server.await(/begun/)
          server.signal("USR2")
          server.await(/a mistake/)
          refute_predicate server.await_end, :success?
          File.write(File.join(folder, "go"), "")
          assert_equal "finished", client.response.body
        end
      end
    end
  end

  # As Ctrl-Z does, and much like a machine that is suspended.
  def test_workers_are_not_blamed_for_a_pause_of_all
    serve("-w", "2", "--worker-timeout", "2") do |server|
      workers = server.workers
      [*workers, server.pid].each { |pid| Process.kill("STOP", pid) }
      sleep 3
      [server.pid, *workers].each { |pid| Process.kill("CONT", pid) }
      server.await(/the supervisor did not run for \d\.\d s: its workers are given as much more time/)
      sleep 1
      assert_equal workers, server.workers
      assert_predicate server.stop, :success?
      refute_match(/is killed/, server.lines.join)
    end
  end

  def test_questions_to_one_process
    MODES.each do |mode|
      serve("--mode", mode, "--stuck-timeout", "60") do |server|
        ask(server, "/held") do
          server.await(/begun/)
          server.signal("USR2")
          server.await(/upwell\[\d+\]: SIGUSR2 has no meaning here/)
          server.signal("TTIN")
          server.await(/where the threads and fibers are/)
          server.await(/thread main, /)
          server.await(/config\.ru:1:in .(?:Kernel#)?sleep/)
        end
      end
    end
  end

  def test_questions_to_a_supervisor
    serve("-w", "2") do |server|
      workers = server.workers
      server.signal("USR2")
      server.await(/SIGUSR2 has no meaning here; SIGUSR1 replaces the workers/)
      server.signal("TTOU")
      server.signal("TTIN")
      2.times { server.await(/where the threads and fibers are/) }
      assert_equal workers, server.workers
      assert_predicate server.stop, :success?
    end
  end

  def test_a_process_that_the_application_forks_obeys_signals_as_usual
    serve { |server| assert_match(/ 15\z/, RawClient.get(server.port, "/forked").body) }
  end
end
