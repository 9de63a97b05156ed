# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../system_faults/failing_calls_library"

# What supervisor and workers show of themselves, and what becomes of a worker that hangs.
class WorkerSupervisionTest < Minitest::Test
  PATIENCE = 60 # seconds
  WORKER_TIMEOUT = "40" # where no worker is to be killed, on a loaded machine neither
  TRIES = 3 # at most, where one that a machine holds up is killed as it should be
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

  # Not one that was killed before, as the machine held it up.
  #
  # @return [Integer] the worker, which has stopped
  def stop_a_worker(server)
    stopped = nil
    await { stopped = server.workers.find { |pid| (!block_given? || yield(pid)) && stop_whole(pid) } }
    stopped
  end

  # @return [Boolean] false when it has ended
  def stop_whole(pid)
    Process.kill("STOP", pid)
    await { Dir.glob("/proc/#{pid}/task/*/status").all? { |path| File.read(path).match?(/State:\s+[TZX]/) } }
    File.read("/proc/#{pid}/status").match?(/State:\s+T/)
  rescue Errno::ESRCH, Errno::ENOENT
    false
  end

  # Nobody answers only where that worker was killed, too, as the machine held it up.
  #
  # @return [Integer] a worker
  def answering(server, client)
    answer = begin
      client.response
    rescue SystemCallError, EOFError
      nil
    end
    return answer.body.to_i if answer

    server.await(/worker 0 \(\d+\) died: .*SIGKILL/)
    RawClient.open(server.port) do |another|
      another.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      answering(server, another)
    end
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
        server.await(/worker \d: finishing the request in flight, for at most 30 s: GET \/held from 127\.0\.0\.1 for \d+\.\d s/)
        assert_equal "upwell: supervisor, draining [#{app}]", title(server.pid)
        await { server.workers.map { |pid| title(pid)[/\d, draining/] }.compact.any? }
      end
    end
  end

  def test_a_worker_that_is_stopped_is_replaced
    ["-w 1", "-w 1 --mode threads:2"].each do |options|
      serve(*options.split, "--worker-timeout", "1") do |server|
        victim = stop_a_worker(server)
        ask(server, "/") do |client| # waits in the backlog for the next worker
          server.await(/killing worker process #{victim}: no heartbeat for 1 s/)
          server.await(/worker 0 \(#{victim}\) died: .*SIGKILL.*; starting another/)
          refute_equal victim, answering(server, client)
        end
      end
    end
  end

  # Within a system call that keeps Ruby's lock, as a C extension may.
  def test_a_worker_whose_ruby_is_locked_is_replaced
    serve("-w", "1", "--mode", "threads:2", "--worker-timeout", "1") do |server|
      victim = server.workers.first
      ask(server, "/locked") do
        server.await(/killing worker process #{victim}: no heartbeat for 1 s/)
        server.await(/worker 0 \(#{victim}\) died: .*SIGKILL/) # its loop accepts until then
        ask(server, "/") { |client| refute_equal victim, answering(server, client) }
      end
    end
  end

  # That it is killed as the machine held it up comes to pass once, but not each time.
  def test_a_worker_that_computes_is_not_hung
    %w[inline fibers].each do |mode|
      serve("-w", "1", "--mode", mode, "--worker-timeout", "2") do |server|
        assert TRIES.times.any? { outlives_computing?(server) }, server.lines.join
      end
    end
  end

  def outlives_computing?(server)
    worker = RawClient.get(server.port, "/")&.body.to_i
    worker == RawClient.get(server.port, "/computing")&.body.to_i && server.workers == [worker]
  rescue SystemCallError, EOFError
    false # nobody answered
  end

  # No descriptors, for a while: the others go on, and each worker comes back, or is replaced.
  def test_a_worker_that_cannot_be_started_is_started_later
    serve("-w", "2") do |server|
      victim, other = server.workers
      limit(server, "3:#{Process.getrlimit(:NOFILE).last}")
      Process.kill("KILL", victim)
      server.await(/worker \d cannot start: the process has reached its descriptor limit .*; retrying in/)
      server.signal("USR1")
      2.times { server.await(/worker \d cannot be replaced yet: the process has reached its descriptor limit .*; retrying in/) }
      assert_equal [other], server.workers
      limit(server, Process.getrlimit(:NOFILE).join(":"))
      server.await(/worker \d was replaced \(#{other} by/)
      await { server.workers.size == 2 }
      assert_predicate server.stop, :success?
    end
  end

  # It finds some for the application, and none for its event loop.
  GREEDY = <<~RUBY
    begin
      held = []
      held << File.open(File::NULL) while File.exist?(File.join(__dir__, "greedy"))
    rescue Errno::EMFILE
      at_exit { held.clear }
    end
    run ->(_) { [200, {}, [Process.pid.to_s]] }
  RUBY

  def test_a_restart_waits_for_the_descriptors_of_an_event_loop
    BACKENDS.each do |backend|
      Dir.mktmpdir do |folder|
        app, greedy = %w[config.ru greedy].map { |name| File.join(folder, name) }
        File.write(app, GREEDY)
        ServerProcess.open("-w", "1", "--backend", backend, app: app) { |server| restart_greedily(server, greedy) }
      end
    end
  end

  def restart_greedily(server, greedy)
    old = server.workers.first
    limit(server, "64:#{Process.getrlimit(:NOFILE).last}")
    File.write(greedy, "")
    server.signal("USR1")
    Timeout.timeout(PATIENCE) { server.await(/worker 0 cannot be replaced yet: see its message above; retrying in/) }
    assert_equal old, RawClient.get(server.port, "/").body.to_i
    File.unlink(greedy)
    Timeout.timeout(PATIENCE) { server.await(/worker 0 was replaced \(#{old} by/) }
    assert_predicate server.stop, :success?
  end

  # For want of a descriptor, where the application lets that out.
  LACKING = <<~RUBY
    greedy = File.join(__dir__, "greedy")
    held = []
    at_exit { held.clear }
    held << File.open(File::NULL) while File.exist?(greedy)
    run ->(_) { [200, {}, [Process.pid.to_s]] }
  RUBY

  def test_a_restart_waits_for_the_descriptors_of_an_application
    Dir.mktmpdir do |folder|
      app, greedy = %w[config.ru greedy].map { |name| File.join(folder, name) }
      File.write(app, LACKING)
      ServerProcess.open("-w", "1", app: app) { |server| restart_greedily(server, greedy) }
    end
  end

  # It finds threads for booting, and none for serving.
  FRUGAL = <<~RUBY
    folder = ENV.fetch("UPWELL_FAILING")
    File.write(File.join(folder, "pthread_create"), Errno::EAGAIN::Errno) if File.exist?(File.join(folder, "frugal"))
    run ->(_) { [200, {}, [Process.pid.to_s]] }
  RUBY

  def test_a_restart_waits_for_the_threads_of_a_server
    FailingCallsLibrary.build
    %w[fibers threads:2].each do |mode|
      Dir.mktmpdir do |folder|
        app, *files = %w[config.ru frugal pthread_create].map { |name| File.join(folder, name) }
        File.write(app, FRUGAL)
        options = { app: app, environment: FailingCallsLibrary.environment(folder) }
        ServerProcess.open("-w", "1", "--mode", mode, **options) { |server| restart_frugally(server, files) }
      end
    end
  end

  def restart_frugally(server, files)
    old = server.workers.first
    File.write(files.first, "")
    server.signal("USR1")
    Timeout.timeout(PATIENCE) { server.await(/worker 0 cannot be replaced yet: see its message above; retrying in/) }
    assert_equal old, RawClient.get(server.port, "/").body.to_i
    files.each { |file| File.unlink(file) }
    Timeout.timeout(PATIENCE) { server.await(/worker 0 was replaced \(#{old} by/) }
    assert_predicate server.stop, :success?
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
        server.await(/\(#{victim}\) died: .*; starting another/)
        Timeout.timeout(PATIENCE) { await { server.workers.size == 2 } }
        assert_includes server.workers, other
        server.stop
      end
    end
  end

  # Here the application breaks it while the folder has the file, which names a slot, or what is done for all of them.
  BREAKING = <<~RUBY
    module Breakage
      def self.of?(what) = File.exist?(path = File.join(__dir__, "broken")) && File.read(path) == what
    end
    class Upwell::Server::Processes::Slot
      prepend(Module.new { def advance(now) = Breakage.of?(index.to_s) ? raise("a mistake") : super })
    end
    class Upwell::Server::Processes::Cluster
      prepend(Module.new { def await_event = Breakage.of?("wait") ? raise("a mistake") : super })
      def reopen_logs(_) = raise("another mistake")
    end
    run ->(_) { warn("begun"); sleep 0.02 until File.exist?(File.join(__dir__, "go")); [200, {}, ["finished"]] }
  RUBY

  # @yieldparam broken [String] the file
  def serve_broken(*arguments)
    Dir.mktmpdir do |folder|
      app, broken, go = %w[config.ru broken go].map { |name| File.join(folder, name) }
      File.write(app, BREAKING)
      ServerProcess.open("-w", "1", "--preload", *arguments, app: app) do |server|
        Timeout.timeout(PATIENCE) { yield server, broken, go }
      end
    end
  end

  def test_a_supervisor_that_fails_goes_on
    serve_broken do |server, broken, go|
      ask(server, "/") do |client|
        server.await(/begun/)
        File.write(broken, "0")
        2.times { server.signal("TTIN") && server.await(/Error in the supervisor; the supervisor keeps running: .*a mistake/) }
        File.write(go, "")
        assert_equal "finished", client.response.body
      end
      File.unlink(broken)
      Process.kill("KILL", server.workers.first)
      server.await(/starting another/)
      assert_predicate server.stop, :success?
    end
  end

  def test_a_supervisor_that_cannot_wait_obeys_signals
    serve_broken do |server, broken, _|
      File.write(broken, "wait")
      server.signal("TTIN")
      server.await(/Error in the supervisor; the supervisor keeps running: .*a mistake/)
      server.signal("TTIN")
      server.await(/backtraces of all threads and fibers/)
      assert_predicate server.stop, :success?
    end
  end

  # The pause after a mistake is longer than a sign of life is awaited.
  def test_a_mistake_about_one_worker_concerns_no_other
    %w[0 1].permutation do |wrong, other|
      serve_broken("-w", "2", "--worker-timeout", "2") do |server, broken, _|
        File.write(broken, wrong)
        server.await(/Error in the supervisor; the supervisor keeps running: .*a mistake/)
        victim = stop_a_worker(server) { |pid| title(pid).include?("worker #{other}") }
        server.await(/killing worker process #{victim}: no heartbeat for 2 s/)
        server.await(/worker #{other} \(#{victim}\) died: .*starting another/)
        File.unlink(broken)
        assert_predicate server.stop, :success?
      end
    end
  end

  def test_a_mistake_about_a_worker_keeps_no_supervisor_from_its_end
    serve_broken("-w", "2", "--worker-timeout", WORKER_TIMEOUT) do |server, broken, _|
      File.write(broken, "1")
      server.signal("TTIN")
      server.await(/Error in the supervisor; the supervisor keeps running: .*a mistake/)
      assert_predicate server.stop, :success?
    end
  end

  def test_a_mistake_about_a_worker_that_does_not_finish_keeps_no_supervisor_from_its_end
    serve_broken("--drain-timeout", "0.1", "--mode", "inline") do |server, broken, _|
      ask(server, "/") do
        server.await(/begun/)
        File.write(broken, "0")
        server.workers.each { |pid| Process.kill("STOP", pid) } # else it would end itself
        server.signal("TERM")
        server.await(/killing worker process \d+: its requests did not finish within [\d.]+ s; raise --drain-timeout/)
        assert_equal 1, server.await_end.exitstatus
      end
    end
  end

  def test_a_signal_that_cannot_be_obeyed_does_not_take_others_along
    serve_broken do |server, _, _|
      Process.kill("STOP", server.pid) # so they come at once
      %w[HUP TERM CONT].each { |name| server.signal(name) }
      server.await(/Error while handling SIGHUP; the server keeps running: .*another mistake/)
      assert_predicate server.await_end, :success?
    end
  end

  # What libraries do around a fork, in both processes: here it fails while the folder has the file, which names one of them.
  FORKING = <<~RUBY
    Process.singleton_class.prepend(Module.new do
      def _fork
        pid = super
        path = File.join(__dir__, "broken")
        raise("a mistake around a fork") if File.exist?(path) && File.read(path) == (pid.zero? ? "child" : "parent")
        pid
      end
    end)
    run ->(_) { [200, {}, [Process.pid.to_s]] }
  RUBY

  def test_a_mistake_around_a_fork_neither_ends_a_slot_nor_makes_another_supervisor
    %w[child parent].each do |where|
      Dir.mktmpdir do |folder|
        app, broken = %w[config.ru broken].map { |name| File.join(folder, name) }
        File.write(app, FORKING)
        ServerProcess.open("-w", "1", "--preload", app: app) do |server|
          Timeout.timeout(PATIENCE) { start_again_around(server, broken, where) }
        end
      end
    end
  end

  def start_again_around(server, broken, where)
    first = server.workers.first
    File.write(broken, where)
    Process.kill("KILL", first)
    2.times { server.await(/a mistake around a fork/) }
    File.unlink(broken)
    worker = RawClient.get(server.port, "/").body.to_i
    assert_equal server.pid, parent(worker)
    refute_equal first, worker
    assert_predicate server.stop, :success?
  end

  def parent(pid)
    File.read("/proc/#{pid}/stat")[/\) \S (\d+)/, 1].to_i
  end

  # As Ctrl-Z does, and much like a machine that is suspended.
  def test_workers_are_not_blamed_for_a_pause_of_all
    serve("-w", "2", "--worker-timeout", "5") do |server|
      workers = server.workers
      [*workers, server.pid].each { |pid| Process.kill("STOP", pid) }
      sleep 6
      server.signal("CONT")
      server.await(/the supervisor did not run for \d+\.\d s, as on a suspended or overloaded machine; the workers get this time/)
      workers.each { |pid| Process.kill("CONT", pid) } # later, so that no sign of theirs excuses them
      sleep 1
      assert_equal workers, server.workers
      assert_predicate server.stop, :success?
      refute_match(/killing worker process/, server.lines.join)
    end
  end

  def test_questions_to_one_process
    MODES.each do |mode|
      serve("--mode", mode, "--stuck-timeout", "60") do |server|
        ask(server, "/held") do
          server.await(/begun/)
          server.signal("USR1")
          server.await(/upwell\[\d+\]: SIGUSR1: a phased restart needs workers/)
          server.signal("TTIN")
          server.await(/backtraces of all threads and fibers/)
          server.await(/thread main, /)
          server.await(/config\.ru:1:in .(?:Kernel#)?sleep/)
        end
      end
    end
  end

  def test_questions_to_a_supervisor
    serve("-w", "2") do |server|
      workers = server.workers
      Process.kill("USR2", workers.first)
      server.await(/SIGUSR2 is ignored; send it to the supervisor/)
      server.signal("TTOU")
      server.signal("TTIN")
      2.times { server.await(/backtraces of all threads and fibers/) }
      assert_equal workers, server.workers
      assert_predicate server.stop, :success?
    end
  end

  def test_a_process_that_the_application_forks_obeys_signals_as_usual
    serve { |server| assert_match(/ 15\z/, RawClient.get(server.port, "/forked").body) }
  end
end
