# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/tls_client"

# A server that root starts, and that becomes another user (as root alone).
class PrivilegeDropTest < Minitest::Test
  USER = "nobody"
  IDS = %w[Uid Gid Groups].freeze
  WARNING = /the server runs as root; name another user with --user/
  APP = <<~RUBY
    loaded = File.read("/proc/self/status")
    run(lambda do |env|
      regained = [-> { Process::Sys.setuid(0) }, -> { Process::Sys.seteuid(0) }, -> { Process::UID.change_privilege(0) }].any? do |regain|
        regain.call
        true
      rescue Errno::EPERM
        false
      end
      [200, {}, [loaded, File.read("/proc/self/status"), "regained: \#{regained}"]]
    end)
  RUBY

  def setup
    skip "needs root" unless Process.uid.zero?
    @folder = Dir.mktmpdir
    File.chmod(0o755, @folder)
    File.write(rackup, APP)
    File.write(File.join(@folder, "index.html"), "hello")
  end

  def teardown
    FileUtils.rm_rf(@folder) if @folder
  end

  def rackup
    File.join(@folder, "config.ru")
  end

  # @return [Array<String>] the lines of users and groups in /proc/PID/status
  def ids_of(pid)
    File.readlines("/proc/#{pid}/status").grep(/\A(?:#{IDS.join("|")}):/).map { |line| line.split.drop(1).uniq.join(" ") }
  end

  def expected
    account = Etc.getpwnam(USER)
    [account.uid.to_s, account.gid.to_s, account.gid.to_s]
  end

  def test_the_server_becomes_the_user_before_the_application_is_loaded
    [[], ["-w", "2"], ["-w", "1", "--preload"]].each do |options|
      ServerProcess.open("--user", USER, *options, app: rackup) do |server|
        ([server.pid] + server.workers).each { |pid| assert_equal expected, ids_of(pid) }
        body = RawClient.get(server.port, "/").body
        assert_equal [expected[0]] * 2, body.scan(/^Uid:(.*)$/).map { |ids,| ids.split.uniq.join(" ") }
        assert_match(/regained: false/, body)
        refute_match WARNING, server.lines.join
        assert_predicate server.stop, :success?
      end
    end
  end

  def test_the_files_of_the_server_are_the_users
    paths = %w[pid log].map { |name| File.join(@folder, name) }
    options = ["--user", USER, "--group", "daemon", "-P", paths[0], "--access-log", paths[1]]
    owner = [Etc.getpwnam(USER).uid, Etc.getgrnam("daemon").gid]
    ServerProcess.open(*options, app: @folder, command: ["static"]) do |server|
      assert_equal 200, RawClient.get(server.port, "/").status
      paths.each { |path| assert_equal owner, [File.stat(path).uid, File.stat(path).gid] }
      assert_equal owner[1].to_s, ids_of(server.pid)[1]
      server.signal("HUP")
      assert_equal 200, RawClient.get(server.port, "/").status
      assert_predicate server.stop, :success?
      refute_match(/cannot be/, server.lines.join)
      assert_empty File.read(paths[0]) # in a folder of root's
    end
  end

  # The certificates that were read at the start serve on, in a new worker, too.
  def test_keys_that_root_alone_can_read
    path = File.join(@folder, "pem")
    File.write(path, File.read(Certificates.localhost.bundle), perm: 0o600)
    [[], ["-w", "1"]].each do |options|
      ServerProcess.open("--user", USER, "-s", "-c", path, "-k", path, *options, app: rackup) do |server|
        assert_equal 200, TLSClient.get(server.port, "/").status
        server.signal("HUP")
        server.await(/the server keeps the old certificates, because .*#{path}.*Permission denied; make it readable .*; then send SIGHUP$/)
        end_worker(server) if options.any?
        assert_equal 200, TLSClient.get(server.port, "/").status
        assert_predicate server.stop, :success?
      end
    end
  end

  def end_worker(server)
    worker = server.workers.first
    Process.kill("KILL", worker)
    await("another worker") { server.workers.any? && server.workers != [worker] }
  end

  def await(what)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 60
    until yield
      flunk "#{what} has not come" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
      sleep 0.01
    end
  end

  # Who says so means it.
  def test_the_user_root
    %w[root 0].each do |user|
      ServerProcess.open("--user", user, app: rackup) do |server|
        assert_equal %w[0 0], ids_of(server.pid).first(2)
        assert_equal 200, RawClient.get(server.port, "/").status
        assert_predicate server.stop, :success?
        refute_match WARNING, server.lines.join
      end
    end
  end

  # @yieldparam server [ServerProcess] whose user cannot enter the folder that is named for it
  def serve_beside_a_folder_of_root(*options)
    Dir.mktmpdir(nil, "/tmp") do |base|
      File.chmod(0o700, base)
      ServerProcess.open("--user", USER, "-w", "2", *options, app: rackup, environment: { "TMPDIR" => base }) { |server| yield server, base }
    end
  end

  def bus_of(server)
    Dir.glob("/tmp/upwell-bus-#{server.pid}-*").first
  end

  def test_the_processes_meet_where_the_user_may
    serve_beside_a_folder_of_root do |server, base|
      folder = bus_of(server)
      assert_equal Etc.getpwnam(USER).uid, File.stat(folder).uid
      await("a socket of each worker") { Dir.children(folder).size == 2 }
      assert_match(/the temporary directory #{base} is not writable: requests with large content get 503/, server.lines.join)
      assert_predicate server.stop, :success?
      refute File.exist?(folder)
    end
  end

  def test_what_a_killed_server_of_the_user_has_left_is_removed
    left = ServerProcess.open("--user", USER, app: rackup) { |server| bus_of(server) }
    assert File.directory?(left)
    File.utime(*[Time.now - 3600] * 2, left)
    ServerProcess.open("--user", USER, app: rackup) { |server| assert_predicate server.stop, :success? }
    refute File.exist?(left)
  ensure
    FileUtils.rm_rf(left) if left
  end

  def test_a_named_folder_that_the_user_cannot_enter_is_refused
    Dir.mktmpdir(nil, "/tmp") do |base|
      File.chmod(0o700, base)
      output, status = Open3.capture2e(*ServerProcess.spawn_arguments("-p", "0", "--user", USER, "--pubsub", File.join(base, "bus"), rackup,
                                                                      prefix: %w[timeout 60]))
      assert_match(/\Aupwell: pubsub: directory #{base}\/bus cannot be used: permission denied; name another directory\n\z/, output)
      assert_equal 1, status.exitstatus
    end
  end

  def test_a_named_folder
    Dir.mktmpdir(nil, "/tmp") do |base|
      File.chmod(0o755, base)
      folder = File.join(base, "bus")
      2.times do
        ServerProcess.open("--user", USER, "-w", "2", "--pubsub", folder, app: rackup) do |server|
          await("a socket of each worker") { Dir.children(folder).size == 2 }
          assert_predicate server.stop, :success?
        end
      end
    end
  end

  def test_a_socket_in_a_folder_of_roots_that_the_server_cannot_remove
    path = File.join(@folder, "socket")
    2.times do
      ServerProcess.open("--user", USER, "-b", "unix:#{path}", app: rackup) do |server|
        UNIXSocket.open(path) do |client|
          client.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") && assert_match(/ 200 /, client.read)
        end
        assert_predicate server.stop, :success?
      end
    end
  end

  def test_files_that_the_user_cannot_read_are_told
    File.chmod(0o600, rackup)
    secret = File.join(@folder, "secret").tap { |path| Dir.mkdir(path, 0o700) }
    { [rackup] => /Permission denied .*config\.ru/,
      ["static", secret] => / enter directory #{secret}; run chmod o\+x on it and on those above, / }.each do |arguments, message|
      output, status = Open3.capture2e(*ServerProcess.spawn_arguments(*arguments, "-p", "0", "--user", USER, prefix: %w[timeout 60]))
      assert_match(message, output)
      assert_equal 1, status.exitstatus
    end
  end

  def test_root_is_warned_once
    [[], ["-w", "2"]].each do |options|
      ServerProcess.open(*options) do |server|
        server.stop
        assert_equal 1, server.lines.join.scan(WARNING).size
      end
    end
  end

  def test_what_cannot_be_is_told_in_one_sentence
    { %w[--user nobody_at_all] => /option user: must name an existing user/,
      %w[--user nobody --group no_group] => /option group: must name an existing group/,
      %w[--group daemon] => /option group has no effect without a user; name one with --user/,
      %w[--user 4242] => /option user: 4242 has no group; name one with --group/ }.each do |options, message|
      output, status = Open3.capture2e(*ServerProcess.spawn_arguments("-p", "0", *options, rackup, prefix: %w[timeout 60]))
      assert_match(/\Aupwell: #{message.source}.*\n\z/, output)
      assert_equal 1, status.exitstatus
    end
  end
end
