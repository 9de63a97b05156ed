# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../signals/load_client"
require_relative "../support/notify_socket"
require_relative "../support/socket_activation"

# SIGUSR2 starts a new server, which takes over the listening sockets.
class HotRestartTest < Minitest::Test
  KINDS = [[], %w[-w 2], %w[-w 2 --preload]].freeze
  LOAD_APP = File.expand_path("../signals/app.ru", __dir__)
  GET = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
  PATIENCE = 120
  CLIENTS = 6
  ANSWERS = 200 # before and after a restart

  def setup
    @folder = File.realpath(Dir.mktmpdir)
    @app = file("config.ru")
    serve_text("first")
  end

  def teardown
    @sockets&.each(&:close)
    FileUtils.rm_rf(@folder)
  end

  def file(name)
    File.join(@folder, name)
  end

  def serve_text(text)
    File.write(@app, "run ->(_) { [200, {}, ['#{text}']] }\n")
  end

  def serve(*arguments, app: @app, **options)
    ServerProcess.open(*arguments, app: app, **options) { |server| Timeout.timeout(PATIENCE) { yield server } }
  end

  # @return [Integer] the process id of the new server, once it serves alone
  def restart(server, old = server.pid)
    Process.kill("USR2", old)
    pid = server.await(/the new server \(process (\d+)\) serves/)[1].to_i
    server.await(/serves on/)
    await_end(old) unless old == server.pid
    assert_predicate server.await_end, :success? if old == server.pid
    pid
  end

  def await_end(pid)
    sleep 0.02 while Process.kill(0, pid)
  rescue Errno::ESRCH
    nil
  end

  def stop(pid)
    Process.kill("TERM", pid)
    await_end(pid)
  end

  def get(server)
    RawClient.get(server.port, "/").body
  end

  def get_unix(path)
    UNIXSocket.open(path) { |client| client.write(GET) && client.read }[/\w+\z/]
  end

  def test_a_changed_application
    KINDS.each do |kind|
      serve_text("first")
      serve(*kind) do |server|
        assert_equal "first", get(server)
        serve_text("second")
        new = restart(server)
        assert_equal "second", get(server)
        stop(new)
        assert_raises(Errno::ECONNREFUSED) { TCPSocket.new("127.0.0.1", server.port) }
      end
    end
  end

  def test_no_request_fails
    [*KINDS, %w[-w 2 --mode threads:3 --backend epoll]].each do |kind|
      serve(*kind, app: LOAD_APP) { |server| assert_nothing_lost(server, kind) }
    end
  end

  # The last stop ends the clients.
  def assert_nothing_lost(server, kind)
    clients = Array.new(CLIENTS) { |number| load_client(server.port, number) }
    threads = clients.map { |client| Thread.new { client.run } }
    pid = server.pid
    2.times do
      await_answers(clients)
      pid = restart(server, pid)
    end
    await_answers(clients)
    stop(pid)
    accounts = threads.map(&:value)
    assert_empty accounts.flat_map { |account| account.lost + account.raced }, kind.join(" ")
  end

  def load_client(port, number)
    Signals::LoadClient.new(-> { TCPSocket.new("127.0.0.1", port) }, Random.new(number), pause: 0, kept: number.even?)
  end

  def await_answers(clients)
    enough = clients.sum { |client| client.account.answered } + ANSWERS
    sleep 0.01 until clients.sum { |client| client.account.answered } >= enough
  end

  def test_the_file_server
    File.write(file("a.txt"), "hello")
    [[], %w[-w 2], %w[--threads 2]].each do |kind|
      serve(*kind, app: @folder, command: ["static"]) do |server|
        new = restart(server)
        assert_equal "hello", RawClient.get(server.port, "/a.txt").body
        stop(new)
      end
    end
  end

  def test_a_unix_socket
    KINDS.each do |kind|
      path = file("s")
      serve(*kind, bind: ["-b", "unix:#{path}"]) do |server|
        before = File.stat(path).ino
        new = restart(server)
        assert_equal before, File.stat(path).ino
        assert_equal "first", get_unix(path)
        stop(new)
        refute_path_exists path
      end
    end
  end

  def test_a_new_server_that_cannot_boot
    KINDS.each do |kind|
      serve_text("first")
      path = file("s")
      serve(*kind, "-b", "unix:#{path}") do |server|
        File.write(@app, "raise 'not today'")
        server.signal("USR2")
        server.await(/not today/)
        server.await(/the new server ended before it was ready; see its message above; this one keeps serving/)
        assert_equal %w[first first], [get(server), get_unix(path)]
        serve_text("second")
        new = restart(server)
        assert_equal %w[second second], [get(server), get_unix(path)]
        stop(new)
      end
    end
  end

  # The new server waits for the file "go".
  def hold_boot
    File.write(@app, "warn 'held'\nsleep 0.02 until File.exist?('#{file("go")}')\nrun ->(_) { [200, {}, ['second']] }\n")
  end

  def test_a_second_signal
    KINDS.each do |kind|
      FileUtils.rm_f(file("go"))
      serve_text("first")
      serve(*kind) do |server|
        hold_boot
        server.signal("USR2")
        server.await(/held/)
        server.signal("USR2")
        pid = server.await(/SIGUSR2 is ignored: the new server \(process (\d+)\) is starting already/)[1].to_i
        assert_equal "first", get(server)
        File.write(file("go"), "")
        server.await(/the new server \(process #{pid}\) serves/)
        server.await_end
        assert_equal "second", get(server)
        stop(pid)
      end
    end
  end

  def test_a_stop_while_the_new_server_boots
    KINDS.each do |kind|
      serve_text("first")
      path = file("s")
      serve(*kind, "-b", "unix:#{path}") do |server|
        hold_boot
        server.signal("USR2")
        server.await(/held/)
        assert_predicate server.stop, :success?
        assert_raises(Errno::ECONNREFUSED) { TCPSocket.new("127.0.0.1", server.port) }
        refute_path_exists path
        await_no_process(server.pid)
      end
    end
  end

  def test_a_server_that_drains_starts_no_other
    KINDS.each do |kind|
      FileUtils.rm_f(file("go"))
      File.write(@app, "run ->(_) { warn('begun'); sleep(0.02) until File.exist?('#{file("go")}'); [200, {}, ['first']] }")
      serve(*kind) do |server|
        client = RawClient.new(server.port)
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        server.await(/begun/)
        server.signal("TERM")
        server.await(/SIGTERM: /)
        server.signal("USR2")
        server.await(/SIGUSR2 is ignored: this server drains already/)
        File.write(file("go"), "")
        assert_equal "first", client.response.body
        assert_predicate server.await_end, :success?
      end
    end
  end

  def await_no_process(group)
    sleep 0.02 while Process.kill(0, -group)
  rescue Errno::ESRCH
    nil
  end

  def test_a_new_server_that_hangs
    KINDS.each do |kind|
      serve_text("first")
      serve(*kind, "--boot-timeout", "5") do |server|
        hold_boot
        server.signal("USR2")
        server.await(/the new server was not ready within 5 s; raise --boot-timeout if it needs longer; this one keeps serving/)
        assert_equal "first", get(server)
      end
    end
  end

  # Its workers must neither refuse the clients of the new server nor remove the file of its socket.
  def test_an_old_supervisor_that_is_killed_while_it_drains
    path = file("s")
    held = "run ->(env) { warn('begun') && sleep(0.02) until File.exist?('#{file("go")}'); [200, {}, ['old']] }"
    File.write(@app, held)
    serve("-w", "2", "-b", "unix:#{path}") do |server|
      client = UNIXSocket.new(path)
      client.write(GET)
      server.await(/begun/)
      serve_text("second")
      old_workers = server.workers
      server.signal("USR2")
      new = server.await(/the new server \(process (\d+)\) serves/)[1].to_i
      server.await(/stopping the workers/)
      server.kill
      File.write(file("go"), "")
      assert_match(/old\z/, client.read)
      old_workers.each { |pid| await_end(pid) } # until then they may serve new clients
      assert_equal %w[second second], [get(server), get_unix(path)]
      stop(new)
    end
  end

  def test_another_number_of_workers
    config = file("upwell.rb")
    File.write(config, "workers 3")
    serve("-C", config) do |server|
      pid = server.pid
      [1, 4, 0, 2].each do |workers|
        File.write(config, "workers #{workers}")
        pid = restart(server, pid)
        assert_equal(["first"], Array.new(40) { get(server) }.uniq)
      end
      stop(pid)
    end
  end

  # The first worker of the new server shares the sockets as soon as it is ready.
  def test_a_new_server_whose_second_worker_fails
    path = file("s")
    serve("-w", "2", "-b", "unix:#{path}") do |server|
      File.write(@app, <<~RUBY)
        unless (File.open("#{file("first")}", File::CREAT | File::EXCL) rescue nil)
          sleep 0.02 until File.exist?("#{file("fail")}")
          raise "on purpose"
        end
        run ->(_) { File.write("#{file("begun")}", "") && sleep(0.02) until File.exist?("#{file("go")}"); [200, {}, ["second"]] }
      RUBY
      server.signal("USR2")
      clients = Array.new(8) { Thread.new { get_until_begun(path) } }
      sleep 0.02 until File.exist?(file("begun"))
      File.write(file("fail"), "")
      server.await(/the new server ended before it was ready/)
      File.write(file("go"), "")
      assert_empty clients.flat_map(&:value) - %w[first second]
      assert_equal "first", get_unix(path)
    end
  end

  def get_until_begun(path)
    answers = [get_unix(path)]
    answers << get_unix(path) until File.exist?(file("begun"))
    answers
  end

  def test_a_unix_socket_whose_file_is_anothers
    path = file("s")
    serve("-b", "unix:#{path}") do |server|
      File.unlink(path)
      2.times do
        server.signal("USR2")
        server.await(/unix:.* is no longer the socket of the running server.*stop the server and start it again/)
        server.await(/the new server ended before it was ready/)
        refute_path_exists path
      end
      serve("-b", "unix:#{path}") do |other|
        server.signal("USR2")
        server.await(/is no longer the socket of the running server/)
        server.await(/the new server ended before it was ready/)
        server.stop
        assert_equal "first", get_unix(path)
        other.stop
      end
    end
  end

  # The old server stops answering there, so its metrics end.
  def test_the_control_address
    [[], %w[-w 2]].each do |kind|
      path = file("control")
      serve(*kind, "--control", "unix:#{path}") do |server|
        pid = server.pid
        2.times do
          pid = restart(server, pid)
          assert_equal "first", get(server)
          assert_equal 1, request_count(path)
        end
        stop(pid)
      end
      refute_path_exists path
    end
  end

  def request_count(path)
    text = UNIXSocket.open(path) { |client| client.write(GET.sub(" / ", " /metrics ")) && client.read }
    text.scan(/^http_server_request_duration_seconds_count\S* (\d+)/).sum { |(count)| count.to_i }
  end

  def test_an_address_that_the_new_configuration_lacks
    config = file("upwell.rb")
    File.write(config, "bind ['127.0.0.1', 'unix:#{file("s")}']")
    serve("-C", config, "-p", "0", bind: []) do |server|
      File.write(config, "bind '127.0.0.1'")
      server.signal("USR2")
      server.await(/the running server also listens on unix:.*name the address with -b/)
      server.await(/this one keeps serving/)
      assert_equal %w[first first], [get(server), get_unix(file("s"))]
    end
  end

  def test_a_hot_restart_in_the_midst_of_a_phased_one
    serve("-w", "2") do |server|
      hold_boot
      server.signal("USR1")
      server.await(/held/)
      server.signal("USR2")
      server.await(/SIGUSR2: starting a new server/)
      File.write(file("go"), "")
      new = server.await(/the new server \(process (\d+)\) serves/)[1].to_i
      assert_predicate server.await_end, :success?
      assert_equal "second", get(server)
      stop(new)
    end
  end

  # The new server starts as this user.
  def nobody_can_start_it?
    environment, *command = ServerProcess.spawn_arguments("--check")
    pid = fork do
      Process::GID.change_privilege(Etc.getpwnam("nobody").gid)
      Process::UID.change_privilege(Etc.getpwnam("nobody").uid)
      exec(environment, *command, %i[out err] => File::NULL)
    rescue SystemCallError
      exit!(1)
    end
    Process.wait2(pid).last.success?
  end

  def test_a_server_that_has_switched_its_user
    skip "needs root" unless Process.uid.zero?
    skip "the user nobody cannot enter the folders of Ruby or of this project" unless nobody_can_start_it?

    File.chmod(0o777, @folder)
    KINDS.each do |kind|
      File.write(@app, "run ->(_) { [200, {}, [Process.uid.to_s]] }")
      serve(*kind, "--user", "nobody", "--pid-file", file("pid")) do |server|
        new = restart(server)
        assert_equal [Etc.getpwnam("nobody").uid.to_s, "#{new}\n"], [get(server), File.read(file("pid"))]
        stop(new)
      end
    end
  end

  def test_the_pid_file
    KINDS.each do |kind|
      path = file("pid")
      serve(*kind, "--pid-file", path) do |server|
        new = restart(server)
        assert_equal "#{new}\n", File.read(path)
        stop(new)
        refute_path_exists path
      end
    end
  end

  def test_a_directory_behind_a_link_that_moves
    %w[one two].each do |name|
      Dir.mkdir(file(name))
      File.write(file("#{name}/config.ru"), "run ->(_) { [200, {}, ['#{name}']] }\n")
    end
    File.symlink("one", file("current"))
    serve(app: file("current/config.ru"), environment: { "PWD" => file("current") }, spawn: { chdir: file("current") }) do |server|
      assert_equal "one", get(server)
      File.unlink(file("current"))
      File.symlink("two", file("current"))
      new = restart(server)
      assert_equal ["two", File.realpath(file("two"))], [get(server), File.readlink("/proc/#{new}/cwd")]
      stop(new)
    end
  end

  # Each release has its own Gemfile, and a link names the current release.
  def test_another_gemfile
    %w[one two].each { |name| make_release(name) }
    File.symlink("one", file("current"))
    pid = spawn_with_bundler(file("current"))
    await_log(/serves on/)
    assert_equal file("one/Gemfile"), gemfile
    File.unlink(file("current"))
    File.symlink("two", file("current"))
    Process.kill("USR2", pid)
    new = await_log(/the new server \(process (\d+)\) serves/)[1].to_i
    assert_predicate Process.wait2(pid).last, :success?
    assert_equal file("two/Gemfile"), gemfile
    stop(new)
  ensure
    ProcessGroup.kill(pid) if pid
  end

  def make_release(name)
    Dir.mkdir(file(name))
    File.write(file("#{name}/Gemfile"), "source 'https://rubygems.org'\ngem 'rack'\ngem 'upwell', path: '#{ServerProcess::ROOT}'\n")
    File.write(file("#{name}/config.ru"), "run ->(_) { [200, {}, [Bundler.default_gemfile.realpath.to_s]] }")
  end

  def spawn_with_bundler(directory)
    path = Bundler.settings[:path]
    skip "needs gems in a directory of their own" unless path
    environment = { "BUNDLE_PATH" => File.expand_path(path, ServerProcess::ROOT), "PWD" => directory }
    Bundler.with_unbundled_env do
      ProcessGroup.spawn(environment, "bundle", "exec", "upwell", "-b", "unix:#{file("s")}", chdir: directory, %i[out err] => file("log"))
    end
  end

  def await_log(pattern)
    Timeout.timeout(PATIENCE) { sleep 0.02 until File.exist?(file("log")) && File.read(file("log")).match?(pattern) }
    File.read(file("log")).match(pattern)
  end

  def gemfile
    UNIXSocket.open(file("s")) { |client| client.write(GET) && client.read }[/^\S+Gemfile\z/]
  end

  def activated(*arguments)
    @sockets = [SocketActivation.tcp, SocketActivation.unix(file("s#{arguments.size}"))]
    NotifySocket.open(file("notify#{arguments.size}")) do |heard|
      options = { app: @app, environment: { "NOTIFY_SOCKET" => heard.address, "WATCHDOG_USEC" => "20000000" } }
      SocketActivation.open(@sockets, *arguments, **options) { |server| Timeout.timeout(PATIENCE) { yield server, heard } }
    end
  end

  def test_a_service_manager
    KINDS.each do |kind|
      serve_text("first")
      activated(*kind) do |server, heard|
        heard.await("READY")
        serve_text("second")
        new = restart(server)
        assert_equal "1", heard.await("RELOADING")["RELOADING"]
        assert_equal new.to_s, heard.await("MAINPID")["MAINPID"]
        ready = heard.await("READY")
        assert_equal new.to_s, ready["MAINPID"]
        assert_match(/\(inherited\)/, ready["STATUS"])
        assert_equal %w[second second], [RawClient.get(SocketActivation.port(@sockets.first), "/").body, get_unix(file("s#{kind.size}"))]
        stop(new)
        assert_path_exists file("s#{kind.size}")
        refute(heard.rest.any? { |message| message["STOPPING"] && message["MAINPID"] == server.pid.to_s })
      end
    end
  end

  def test_a_service_manager_and_a_new_server_that_cannot_boot
    KINDS.each do |kind|
      serve_text("first")
      activated(*kind) do |server, heard|
        heard.await("READY")
        File.write(@app, "raise 'not today'")
        server.signal("USR2")
        heard.await("RELOADING")
        server.await(/this one keeps serving/)
        assert_equal server.pid.to_s, heard.await("READY")["MAINPID"]
        assert_equal "first", RawClient.get(SocketActivation.port(@sockets.first), "/").body
      end
    end
  end
end
