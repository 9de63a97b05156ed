# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/notify_socket"

# What the service manager hears of a server: its states, its status, and signs of life.
class ServiceNotificationsTest < Minitest::Test
  APP = <<~'RUBY'
    variables = ->(_) { IO.popen(["env"], &:read).scan(/^(?:NOTIFY_|WATCHDOG_)\w+/).join(" ") }
    go = File.join(__dir__, "go")
    held = ->(_) { warn("begun"); sleep(0.02) until File.exist?(go) }
    busy = ->(_) { warn("begun"); nil until File.exist?(go) }
    run(lambda do |env|
      answer = { "/variables" => variables, "/held" => held, "/busy" => busy }.fetch(env["PATH_INFO"]) { ->(_) { Process.pid } }
      [200, { "content-type" => "text/plain" }, [answer.call(env).to_s]]
    end)
  RUBY
  PATIENCE = 60
  WATCHDOG = 1 # second

  def setup
    @folder = Dir.mktmpdir
    @app = file("config.ru")
    File.write(@app, APP)
  end

  def teardown
    FileUtils.rm_rf(@folder)
  end

  def file(name)
    File.join(@folder, name)
  end

  # @yieldparam server [ServerProcess]
  # @yieldparam heard [NotifySocket]
  def serve(*arguments, address: file("notify"), app: @app, watchdog: nil, environment: {}, **options)
    NotifySocket.open(address) do |heard|
      environment = { "NOTIFY_SOCKET" => address, **environment }
      environment["WATCHDOG_USEC"] = (watchdog * 1_000_000).to_i.to_s if watchdog
      ServerProcess.open(*arguments, app: app, environment: environment, **options) do |server|
        Timeout.timeout(PATIENCE) { yield server, heard }
      end
    end
  ensure
    FileUtils.rm_f(address)
  end

  def hold(server, path)
    client = RawClient.new(server.port)
    client.write("GET #{path} HTTP/1.1\r\nHost: a\r\n\r\n")
    server.await(/begun/)
    client
  end

  def release
    File.write(file("go"), "")
  end

  def test_ready_and_stopping
    [file("notify"), "@upwell-test-#{Process.pid}"].each do |address|
      serve(address: address) do |server, heard|
        ready = heard.await("READY", /\A1\z/)
        assert_equal [server.pid.to_s, "serves on http://127.0.0.1:#{server.port}"], ready.values_at("MAINPID", "STATUS")
        assert_equal "", RawClient.get(server.port, "/variables").body
        assert_predicate server.stop, :success?
        assert_equal "draining, 0 requests in flight", heard.await("STOPPING", /\A1\z/)["STATUS"]
      end
    end
  end

  def test_a_cluster_is_ready_once_all_workers_serve
    serve("-w", "2") do |server, heard|
      ready = heard.await("READY")
      assert_equal "2 workers serve on http://127.0.0.1:#{server.port}", ready["STATUS"]
      assert_equal server.pid.to_s, ready["MAINPID"]
      assert_equal "", RawClient.get(server.port, "/variables").body
      Process.kill("KILL", server.workers.first)
      heard.await("STATUS", /\A1 of 2 workers serve on/)
      heard.await("STATUS", /\A2 workers serve on/)
      assert_predicate server.stop, :success?
      assert_match(/draining, 2 of 2 workers left/, heard.await("STOPPING")["STATUS"])
    end
  end

  def test_the_file_server
    [[], %w[-w 2]].each do |kind|
      serve(*kind, app: @folder, command: ["static"]) do |server, heard|
        heard.await("READY")
        assert_predicate server.stop, :success?
        assert_match(/\Adraining/, heard.await("STOPPING")["STATUS"])
      end
    end
  end

  def assert_reload(heard)
    reloading = heard.await("RELOADING", /\A1\z/)
    assert_in_delta Process.clock_gettime(Process::CLOCK_MONOTONIC), Integer(reloading["MONOTONIC_USEC"]) / 1e6, PATIENCE
    assert_match(/serve/, heard.await("READY")["STATUS"])
  end

  def test_a_reload
    [[], %w[-w 1]].each do |kind|
      serve(*kind) do |server, heard|
        heard.await("READY")
        server.signal("HUP")
        assert_reload(heard)
      end
    end
  end

  def test_a_phased_restart
    serve("-w", "2") do |server, heard|
      heard.await("READY")
      before = server.workers
      server.signal("USR1")
      assert_reload(heard)
      assert_empty before & server.workers
    end
  end

  # The service manager waits for READY=1 after each command, and one answers all.
  def test_a_reload_during_a_phased_restart
    %w[HUP USR1].each do |name|
      serve("-w", "2") do |server, heard|
        heard.await("READY")
        before = server.workers
        server.signal("USR1")
        heard.await("RELOADING")
        server.signal(name)
        assert_reload(heard)
        assert_empty before & server.workers
        server.signal("HUP")
        assert_reload(heard)
        assert_equal(3, heard.rest.count { |message| message["READY"] })
      end
    end
  end

  def test_a_drain_has_more_time
    serve do |server, heard|
      heard.await("READY")
      client = hold(server, "/held")
      server.signal("TERM")
      stopping = heard.await("STOPPING")
      assert_equal "draining, 1 request in flight", stopping["STATUS"]
      assert_operator Integer(stopping["EXTEND_TIMEOUT_USEC"]), :>, 5_000_000
      heard.await("EXTEND_TIMEOUT_USEC")
      release
      assert_equal 200, client.response.status
      assert_predicate server.await_end, :success?
    end
  end

  def test_the_watchdog_hears_one_process
    [[], %w[--mode threads:2]].each do |mode|
      serve(*mode, watchdog: WATCHDOG) { |_, heard| 3.times { heard.await("WATCHDOG", /\A1\z/) } }
    end
  end

  def test_the_watchdog_hears_nothing_while_the_loop_does_not_turn
    serve(watchdog: WATCHDOG) do |server, heard|
      heard.await("WATCHDOG")
      client = hold(server, "/busy")
      sleep WATCHDOG # it takes a while until the loop counts as stuck
      heard.rest
      before = heard.messages.size
      sleep WATCHDOG * 2
      assert_empty(heard.rest.drop(before).select { |message| message["WATCHDOG"] })
      release
      assert_equal 200, client.response.status
      heard.await("WATCHDOG")
    end
  end

  def test_the_watchdog_hears_a_supervisor_while_a_worker_answers
    serve("-w", "2", "--worker-timeout", "2", watchdog: WATCHDOG) do |server, heard|
      2.times { heard.await("WATCHDOG") }
      stopped = server.workers.first
      Process.kill("STOP", stopped)
      server.await(/killing worker process #{stopped}/)
      heard.rest
      heard.await("WATCHDOG")
    end
  end

  def test_the_watchdog_hears_nothing_while_no_worker_answers
    serve("-w", "1", "--worker-timeout", "4", watchdog: WATCHDOG) do |server, heard|
      heard.await("WATCHDOG")
      stopped = server.workers.first
      Process.kill("STOP", stopped)
      sleep 2.5 # after two missed heartbeats it does not answer
      before = heard.rest.size
      server.await(/killing worker process #{stopped}/)
      assert_empty(heard.rest.drop(before).select { |message| message["WATCHDOG"] })
      heard.await("WATCHDOG") # of its successor
    end
  end

  def test_the_watchdog_of_another_process
    serve(watchdog: 0.02, environment: { "WATCHDOG_PID" => "1" }) do |server, heard|
      server.signal("HUP")
      2.times { heard.await("READY") }
      assert_predicate server.stop, :success?
      heard.await("STOPPING")
      assert_empty(heard.rest.select { |message| message["WATCHDOG"] })
    end
  end

  def test_a_socket_that_fails_harms_nothing
    { file("missing") => nil, "vsock:2:1234" => /NOTIFY_SOCKET is ignored: vsock/, "/#{"a" * 200}" => /NOTIFY_SOCKET is ignored/ }
      .each do |address, note|
        environment = { "NOTIFY_SOCKET" => address, "WATCHDOG_USEC" => "40000" }
        [[], %w[-w 1]].each do |kind|
          ServerProcess.open(*kind, app: @app, environment: environment) do |server|
            assert_match(note, server.lines.join) if note
            assert_equal 200, RawClient.get(server.port, "/").status
            assert_predicate server.stop, :success?
          end
        end
      end
  end

  def test_a_wrong_watchdog_is_ignored
    serve(environment: { "WATCHDOG_USEC" => "soon" }) do |server, heard|
      heard.await("READY")
      assert_match(/WATCHDOG_USEC is ignored: "soon" is not a number of microseconds/, server.lines.join)
    end
  end

  FAILING = <<~RUBY
    Upwell::Server::ServiceManager::Notifications.prepend(Module.new do
      def stopping(*) = raise("on purpose: stopping")

      def tick(...)
        return super if @failed

        @failed = true
        raise("on purpose: tick")
      end
    end)
  RUBY

  def test_a_notification_that_fails_prevents_nothing
    File.write(@app, FAILING + APP)
    serve(watchdog: 0.1) do |server, heard|
      server.await(/Error while notifying the service manager; the server keeps running: .*on purpose: tick/)
      heard.await("WATCHDOG")
      assert_predicate server.stop, :success?
      assert_match(/on purpose: stopping/, server.lines.join)
    end
  end

  # Its queue is full, and nobody reads.
  def test_a_socket_that_nobody_reads_harms_nothing
    [[], %w[-w 1]].each do |kind|
      NotifySocket.open(file("notify")) do |heard|
        writer = Socket.new(:UNIX, :DGRAM)
        full = writer.sendmsg_nonblock("STATUS=x", 0, Socket.sockaddr_un(heard.address), exception: false) until full == :wait_writable
        ServerProcess.open(*kind, app: @app, environment: { "NOTIFY_SOCKET" => heard.address, "WATCHDOG_USEC" => "100000" }) do |server|
          assert_equal 200, RawClient.get(server.port, "/").status
          heard.await("READY") # it was kept
          assert_predicate server.stop, :success?
        end
      ensure
        writer&.close
        FileUtils.rm_f(file("notify"))
      end
    end
  end
end
