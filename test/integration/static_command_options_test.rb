# frozen_string_literal: true

require_relative "../test_helper"

# The options of `upwell static`, its access log, workers, threads and signals.
class StaticCommandOptionsTest < Minitest::Test
  LINE = %r{\A127\.0\.0\.1 - - \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d \+0000\] "GET /a\.txt\?b HTTP/1\.1" 200 10 "-" "test \\x22quoted\\x22"\n\z}
  LARGE_BYTES = 50_000_000

  def setup
    @dir = Dir.mktmpdir
    @root = File.join(@dir, "www")
    Dir.mkdir(@root)
    File.write(File.join(@root, "a.txt"), "0123456789")
  end

  def teardown
    FileUtils.rm_rf(@dir)
  end

  def open_server(*options, &block)
    ServerProcess.open(*options, app: @root, command: ["static"], &block)
  end

  def get(server, target = "/a.txt?b")
    RawClient.request(server.port, "GET #{target} HTTP/1.1\r\nHost: test\r\nUser-Agent: test \"quoted\"\r\n\r\n")
  end

  def await
    Timeout.timeout(60) do
      loop { (result = yield) && (return result) }
    end
  end

  def log_path
    File.join(@dir, "access.log")
  end

  def fails(*arguments)
    output, status = Open3.capture2e(*ServerProcess.spawn_arguments("static", *arguments))
    refute_predicate status, :success?
    output
  end

  def test_why_lines_of_the_access_log_are_lost_is_told
    open_server("--access-log", "/dev/full") do |server|
      asking = Thread.new { loop { get(server) && sleep(0.01) } }
      server.await(/access log lines were dropped: No space left on device; check the disk of the log/)
    ensure
      asking&.kill&.join
    end
  end

  def test_why_no_client_is_accepted_is_told
    ServerProcess.open(app: @root, command: ["static"], spawn: { rlimit_nofile: 30 }) do |server|
      clients = Array.new(40) { TCPSocket.new("127.0.0.1", server.port) }
      server.await(/cannot accept connections: Too many open files; new clients wait; check the limit of open files/)
    ensure
      clients&.each(&:close)
    end
  end

  HSTS = "Strict-Transport-Security: max-age=31536000"
  ANSWERED = { "/a.txt" => 200, "/sub/" => 200, "/nowhere" => 404, "/sub" => 301 }.freeze

  def asked(server, method, target, *fields)
    RawClient.request(server.port, "#{[%(#{method} #{target} HTTP/1.1), "Host: test", *fields].join("\r\n")}\r\n\r\n")
  end

  def assert_own_fields(response, status)
    assert_equal [status, ["max-age=31536000"], %w[nosniff]],
                 [response.status, *response.headers.values_at("strict-transport-security", "x-content-type-options")]
  end

  def test_fields_of_ones_own_are_in_every_response
    Dir.mkdir(File.join(@root, "sub"))
    open_server("--list", "--header", HSTS, "--header", "x-content-type-options:nosniff  ") do |server|
      ANSWERED.each { |target, status| assert_own_fields(get(server, target), status) }
      etag = get(server).headers["etag"].first
      { "Range: bytes=0-1" => 206, "Range: bytes=0-1,4-5" => 206, "If-None-Match: #{etag}" => 304, "If-Match: \"x\"" => 412,
        "Range: bytes=99-" => 416 }.each { |field, status| assert_own_fields(asked(server, "GET", "/a.txt", field), status) }
      { "OPTIONS" => 204, "DELETE" => 405 }.each { |method, status| assert_own_fields(asked(server, method, "/a.txt"), status) }
    end
  end

  def test_fields_that_cannot_be
    assert_match(/\Aupwell static: option header: must be "NAME: VALUE" in printable .*\n\z/, fails("--header", "X", @root))
  end

  def test_long_fields
    open_server(*(["--header", "X-A: #{"a" * 4_000}"] * 2)) do |server|
      assert_equal [["a" * 4_000] * 2, "0123456789"], get(server).then { |response| [response.headers["x-a"], response.body] }
    end
  end

  def test_the_access_log_goes_to_standard_output
    open_server("--access-log", "--list") do |server|
      get(server)
      assert_match(LINE, server.await(/GET/).string)
    end
  end

  def test_an_access_log_in_json
    open_server("--access-log", "--log-format", "json") do |server|
      get(server)
      entry = JSON.parse(server.await(/GET/).string)
      assert_match(/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\z/, entry.delete("time"))
      assert_equal({ "remote" => "127.0.0.1", "method" => "GET", "target" => "/a.txt?b", "version" => "1.1", "status" => 200, "bytes" => 10,
                     "user_agent" => "test \"quoted\"" }, entry)
    end
  end

  def test_every_request_is_in_the_log_once_the_server_has_ended
    open_server("--access-log", log_path, "--threads", "2") do |server|
      20.times { get(server) }
      assert_predicate server.stop, :success?
      lines = File.readlines(log_path)
      assert_equal 20, lines.size
      lines.each { |line| assert_match(LINE, line) }
    end
  end

  def test_a_log_that_was_moved_away_is_opened_again
    [[], ["-w", "1"]].each do |workers|
      open_server("--access-log", log_path, *workers) do |server|
        get(server)
        await { File.size?(log_path) }
        File.rename(log_path, "#{log_path}.1")
        server.signal("HUP")
        await { File.exist?(log_path) && get(server) && File.size?(log_path) }
        assert_predicate server.stop, :success?
      end
      File.unlink(log_path)
    end
  end

  def test_a_log_that_cannot_be_written_is_told
    { "--access-log" => [], "--log-file" => ["--access-log", log_path] }.each do |option, others|
      told = /log file \/nowhere\/log cannot be written: .*; choose another with #{option}$/
      assert_match told, fails(*others, option, "/nowhere/log", @root)
    end
  end

  def test_threads_have_sockets_of_their_own
    open_server("--threads", "3") do |server|
      assert_match(/static files, 3 threads/, server.lines.join)
      listening = File.readlines("/proc/net/tcp").grep(/\A\s*\d+: 0100007F:#{format("%04X", server.port)} 00000000:0000 0A /)
      assert_equal 3, listening.size
      50.times { assert_equal "0123456789", get(server).body }
      assert_predicate server.stop, :success?
    end
  end

  def test_workers_are_replaced_without_a_failure
    open_server("-w", "2", "--threads", "2") do |server|
      before = server.workers
      server.signal("USR1")
      await { assert_equal(200, get(server).status) && !server.workers.intersect?(before) && server.workers.size == 2 }
      assert_predicate server.stop, :success?
    end
  end

  def test_a_download_under_way_is_finished_when_stopping
    File.truncate(File.join(@root, "a.txt"), LARGE_BYTES)
    open_server do |server|
      RawClient.open(server.port) do |client|
        client.write("GET /a.txt HTTP/1.1\r\nHost: test\r\n\r\n")
        assert client.socket.wait_readable(60)
        server.signal("TERM")
        assert_equal LARGE_BYTES, client.response.body.bytesize
      end
      assert_predicate server.await_end, :success?
    end
  end

  HUGE_BYTES = 4 * (1024**3)
  CHANGING_BYTES = 2 * 1024 * 1024
  HEADS = 40
  READ_BYTES_MAX = 1024 * 1024 # in all, with what Ruby reads for itself
  HEADS_CPU_SECONDS = 0.5

  # @return [Array(Integer, Float)] bytes that the server has read so far, and seconds of computing
  def spent(server)
    [File.read("/proc/#{server.pid}/io")[/rchar: (\d+)/, 1].to_i,
     File.read("/proc/#{server.pid}/stat")[/\) (.*)/, 1].split.values_at(11, 12).sum(&:to_i).fdiv(Etc.sysconf(Etc::SC_CLK_TCK))]
  end

  def head(server, target)
    RawClient.open(server.port) do |client|
      client.write("HEAD #{target} HTTP/1.1\r\nHost: test\r\n\r\n")
      assert_equal 200, client.response(head: true).status
    end
  end

  # One that is huge, and one that changes all the time.
  def test_an_entity_tag_costs_no_read
    skip "counts what Linux counts" unless File.exist?("/proc/self/io")
    changing = File.join(@root, "changing.bin")
    Array.new(HEADS) { |i| File.write(File.join(@root, "huge#{i}.bin"), "") && File.truncate(File.join(@root, "huge#{i}.bin"), HUGE_BYTES) }
    BACKENDS.each do |backend|
      open_server("--backend", backend) do |server|
        before = spent(server)
        HEADS.times do |i|
          File.write(changing, i.chr * CHANGING_BYTES)
          ["/huge#{i}.bin", "/changing.bin"].each { |target| head(server, target) }
        end
        read, cpu = spent(server).zip(before).map { |now, earlier| now - earlier }
        assert_operator read, :<, READ_BYTES_MAX, backend
        assert_operator cpu, :<, HEADS_CPU_SECONDS, backend
      end
    end
  end

  def test_a_page_that_routes_on_the_clients_side
    File.write(File.join(@root, "app.html"), "app")
    open_server("--spa", "app.html", "--cache-control", "max-age=60") do |server|
      assert_equal [200, "app"], get(server, "/users/1").then { |response| [response.status, response.body] }
      assert_equal 404, get(server, "/missing.png").status
      assert_equal ["max-age=60"], get(server).headers["cache-control"]
    end
  end

  def test_folders_are_listed_when_asked_only
    open_server { |server| assert_equal 404, get(server, "/").status }
    open_server("--list") { |server| assert_includes get(server, "/").body, '<a href="a.txt">' }
  end

  def test_a_quiet_server_says_nothing
    path = File.join(@dir, "socket")
    reader, writer = IO.pipe
    pid = Process.spawn(*ServerProcess.spawn_arguments("static", "--quiet", "-b", "unix:#{path}", @root), out: writer, err: writer)
    writer.close
    await { File.socket?(path) && connects?(path) }
    Process.kill("TERM", pid)
    assert_equal "", Timeout.timeout(60) { reader.read }
  ensure
    Process.kill("KILL", pid)
    Process.wait(pid)
  end

  def connects?(path)
    socket = UNIXSocket.new(path)
    socket.write("GET /a.txt HTTP/1.0\r\n\r\n")
    Timeout.timeout(60) { socket.read.end_with?("0123456789") }
  rescue Errno::ECONNREFUSED
    false
  end

  def test_what_is_wrong_is_told
    assert_match(/directory .*nowhere does not exist/, fails("/nowhere"))
    assert_match(/only one directory can be served, not 2/, fails(@root, @root))
    assert_match(/option spa: file index.html does not exist in /, fails("--spa", "index.html", @root))
    assert_match(/option cache_control: must be at most 256 printable characters/, fails("--cache-control", "a\nb", @root))
    assert_match(/option log_format: must be combined or json/, fails("--log-format", "xml", @root))
    assert_match(/option threads: must be a number from 1 to 256/, fails("--threads", "0", @root))
    assert_match(/option access_log: .* is a directory; name a file, or put .* before --access-log/, fails("--access-log", @root))
    assert_match(/invalid option: --mode/, fails("--mode", "inline", @root))
  end

  def test_help
    output, status = Open3.capture2e(*ServerProcess.spawn_arguments("static", "--help"))
    assert_predicate status, :success?
    assert_match(/\AUsage: upwell static \[options\] \[DIR\]$/, output)
    %w[--port --bind --workers --threads --backend --cache-control --list --spa --gzip-static --access-log --quiet].each do |option|
      assert_match(/ #{option}\b/, output)
    end
  end
end
