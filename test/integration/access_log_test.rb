# frozen_string_literal: true

require_relative "../test_helper"
require "pty"
require_relative "../support/tls_client"
require_relative "../support/websocket_client"

# The access log of an application.
class AccessLogTest < Minitest::Test
  COMBINED = %r{\A127\.0\.0\.1 - - \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d \+0000\] "GET /text HTTP/1\.1" 200 4 "-" "-"}
  LINE = /#{COMBINED} request_id=\h{32} queue_time=\d+\.\d{6} application_time=\d+\.\d{6}\n\z/
  EVENTS = "GET /upgraded HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n"

  # What a client sends, and what the log says of it.
  ANSWERED = {
    "GET /text HTTP/1.1\r\nHost: a\r\n\r\n" => ["GET", "/text", 200, 4],
    "GET /text?a=b HTTP/1.0\r\n\r\n" => ["GET", "/text?a=b", 200, 4],
    "HEAD /text HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" => ["HEAD", "/text", 200, 0],
    "GET /none HTTP/1.1\r\nHost: a\r\n\r\n" => ["GET", "/none", 204, 0],
    "GET /same HTTP/1.1\r\nHost: a\r\n\r\n" => ["GET", "/same", 304, 0],
    "GET /pieces HTTP/1.1\r\nHost: a\r\n\r\n" => ["GET", "/pieces", 200, 15],
    "GET /called HTTP/1.1\r\nHost: a\r\n\r\n" => ["GET", "/called", 200, 6],
    "GET /file HTTP/1.1\r\nHost: a\r\n\r\n" => ["GET", "/file", 200, 9],
    "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello" => ["POST", "/echo", 201, 5],
    "GET /raises HTTP/1.1\r\nHost: a\r\n\r\n" => ["GET", "/raises", 500, 26],
    "GET /breaks HTTP/1.1\r\nHost: a\r\n\r\n" => ["GET", "/breaks", 200, 5],
    "GET /hijacked HTTP/1.1\r\nHost: a\r\n\r\n" => ["GET", "/hijacked", 0, 0],
    "GET /partly HTTP/1.1\r\nHost: a\r\n\r\n" => ["GET", "/partly", 200, 0]
  }.freeze
  REFUSED = {
    "GET /bad HTTP/1.1\r\nHost : a\r\n\r\n" => ["GET", "/bad", 400, 16],
    "POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n" => ["POST", "/large", 413, 22],
    "GET /long HTTP/1.1\r\nHost: a\r\nX: #{"x" * 3000}\r\n\r\n" => ["GET", "/long", 431, 36]
  }.freeze
  LIMITS = %w[--body-bytes-max 1000 --head-bytes-max 2000].freeze

  def setup
    @dir = Dir.mktmpdir
  end

  def teardown
    FileUtils.rm_rf(@dir)
  end

  def path
    File.join(@dir, "access.log")
  end

  def open_server(*options, environment: {}, app: "access_log.ru", **others, &block)
    File.exist?(path) && File.unlink(path)
    environment = { "FOLDER" => File.join(@dir, "served"), **environment }
    ServerProcess.open(*options, app: app, environment: environment, **others, &block)
  end

  def open_logged(*options, **others, &block)
    open_server("--access-log", path, *options, **others, &block)
  end

  def each_logged(*options, modes: MODES)
    each_backend_and_mode(modes) do |backend, mode|
      open_logged("--backend", backend, "--mode", mode, *options) { |server| yield server, mode }
    end
  end

  # @return [Array<Hash>] the entries of all requests, once the server has ended
  def entries_at_end(server)
    assert_predicate server.stop, :success?
    File.readlines(path).map { |line| JSON.parse(line) }
  end

  def await
    Timeout.timeout(RawClient::READ_MAX) { sleep 0.005 until yield }
  end

  # Sends each request on a connection of its own, and reads to the end of the response.
  def ask(server, text)
    RawClient.open(server.port) do |client|
      client.write(text)
      text.start_with?("HEAD") ? client.read_all : (client.response rescue EOFError) # rubocop:disable Style/RescueModifier
    end
  end

  def get(server, target, *fields)
    RawClient.request(server.port, "#{["GET #{target} HTTP/1.1", "Host: a", *fields].join("\r\n")}\r\n\r\n")
  end

  def test_each_kind_of_response_has_a_line_in_each_mode
    each_logged("--log-format", "json", *LIMITS) do |server, mode|
      requests = { **ANSWERED, **REFUSED }
      requests.each_key { |text| ask(server, text) }
      entries = entries_at_end(server)
      assert_equal requests.values, entries.map { |entry| entry.values_at("method", "target", "status", "bytes") }, mode
      assert_equal ANSWERED.size, entries.count { |entry| entry["request_id"]&.match?(/\A\h{32}\z/) }
      assert_equal ANSWERED.size, entries.count { |entry| entry.values_at("queue_time", "application_time").all?(Float) }
    end
  end

  def test_long_lived_clients_have_a_line_when_they_begin
    each_logged("--log-format", "json") do |server, mode|
      WebSocketClient.open(server.port, "/upgraded") do
        RawClient.open(server.port) do |client|
          client.write(EVENTS)
          client.socket.gets("\r\n\r\n")
          await { File.size?(path) && File.readlines(path).size == 2 }
        end
      end
      statuses = entries_at_end(server).map { |entry| entry.values_at("target", "status") }
      assert_equal [["/upgraded", 101], ["/upgraded", 200]], statuses, mode
    end
  end

  def test_the_combined_format_and_what_it_has_no_place_for
    open_logged do |server|
      get(server, "/text")
      assert_predicate server.stop, :success?
      assert_match LINE, File.read(path)
    end
  end

  def test_workers_and_tls
    open_logged("-w", "2", *Certificates.options) do |server|
      TLSClient.get(server.port, "/text")
      TLSClient.get(server.port, "/hijacked")
      TLSClient.request(server.port, "GET /bad HTTP/1.1\r\nHost : a\r\n\r\n")
      assert_predicate server.stop, :success?
      lines = File.readlines(path)
      assert_equal [0, 200, 400], lines.map { |line| line[/" (\d{3}) \d+ "/, 1].to_i }.sort
      lines.each { |line| assert_match(/ worker=[01] tls=TLSv1\.3$/, line) }
    end
  end

  def test_files_of_the_public_directory
    site = File.join(@dir, "site")
    Dir.mkdir(site)
    File.write(File.join(site, "a.txt"), "0123456789")
    open_logged("--public", site, "--log-format", "json") do |server|
      get(server, "/a.txt")
      get(server, "/text")
      file, text = entries_at_end(server)
      assert_equal ["/a.txt", 200, 10], file.values_at("target", "status", "bytes")
      assert_match(/\A\h{32}\z/, file["request_id"])
      refute file.key?("application_time")
      assert_equal "/text", text["target"]
    end
  end

  # The application waits until the client has closed its connection.
  def test_a_client_that_goes_before_the_response_is_complete
    each_logged("--log-format", "json") do |server, mode|
      fifo = File.join(@dir, "served", "fifo")
      File.exist?(fifo) || File.mkfifo(fifo)
      client = RawClient.new(server.port)
      client.write("GET /abandoned HTTP/1.1\r\nHost: a\r\n\r\n")
      File.open(fifo, "w") { client.close }
      await { File.size?(path) }
      assert_equal [["/abandoned", 499]], entries_at_end(server).map { |entry| entry.values_at("target", "status") }, mode
    end
  end

  def test_a_client_that_goes_within_its_upload
    open_logged("--log-format", "json") do |server|
      RawClient.open(server.port) { |client| client.write("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab") }
      await { File.size?(path) }
      assert_equal [["/echo", 499]], entries_at_end(server).map { |entry| entry.values_at("target", "status") }
    end
  end

  LARGE = 64 * 1024 * 1024 # bytes, more than the kernel buffers

  def read_some(server, target)
    RawClient.open(server.port) do |client|
      client.write("GET #{target} HTTP/1.1\r\nHost: a\r\n\r\n")
      client.socket.readpartial(1000)
    end
  end

  def test_a_download_that_ends_early_counts_what_was_sent
    each_logged("--log-format", "json", "--public", @dir) do |server, mode|
      File.open(File.join(@dir, "large"), "w") { |file| file.truncate(LARGE) }
      %w[/large /large_file /large_pieces].each do |target|
        before = File.exist?(path) ? File.readlines(path).size : 0
        read_some(server, target)
        await { File.readlines(path).size > before }
      end
      entries_at_end(server).each do |entry|
        assert_equal 499, entry["status"], [mode, entry]
        assert_includes 1...LARGE, entry["bytes"], [mode, entry]
      end
    end
  end

  def test_a_download_of_a_client_that_ends_its_input
    open_logged("--log-format", "json", "--public", @dir) do |server|
      File.open(File.join(@dir, "large"), "w") { |file| file.truncate(LARGE) }
      RawClient.open(server.port) do |client|
        client.write("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        client.socket.close_write
        assert_equal LARGE, client.response.body.bytesize
      end
      assert_equal([[200, LARGE]], entries_at_end(server).map { |entry| entry.values_at("status", "bytes") })
    end
  end

  def test_paths_without_a_line
    options = %w[--access-log-except /up --access-log-except /health/live]
    open_logged("--log-format", "json", *options) do |server|
      %w[/up /up?a=b /health/live /up/ /health /text].each { |target| get(server, target) }
      assert_equal %w[/up/ /health /text], entries_at_end(server).map { |entry| entry["target"] }
    end
  end

  def test_health_checks
    open_logged("--log-format", "json", "--health-path", "/up", "--ready-path", "/ready") do |server|
      get(server, "/up")
      RawClient.request(server.port, "HEAD /ready HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      assert_equal [["/up", 200, 3], ["/ready", 200, 0]], (entries_at_end(server).map { |entry| entry.values_at("target", "status", "bytes") })
    end
  end

  def test_an_application_that_closes_standard_output
    app = File.join(@dir, "closing.ru")
    File.write(app, "$stdout.close\nrun ->(_env) { [200, {}, []] }\n")
    log, writer = IO.pipe
    server = spawn(*ServerProcess.spawn_arguments("--access-log=-", "-b", "unix:#{@dir}/socket", app), out: writer, err: File::NULL)
    writer.close
    Timeout.timeout(60) do
      sleep 0.05 until File.socket?(File.join(@dir, "socket")) # no start line is written
      UNIXSocket.open(File.join(@dir, "socket")) { |client| client.write("GET /closed HTTP/1.0\r\n\r\n") && client.read }
      assert_includes log.gets, "GET /closed"
    end
  ensure
    Process.kill("TERM", server)
    Process.wait(server)
  end

  # Whatever bytes a client sends, they stay within their field.
  def test_no_client_can_forge_a_line
    fields = ["User-Agent: a\"b\\ \t\xc3\xa4\xff\x9b".b, "Referer: \u{1f600}\n".b.chomp]
    %w[combined json].each do |format|
      open_logged("--log-format", format) do |server|
        RawClient.request(server.port, ["GET /text?\"x\" HTTP/1.1".b, "Host: a", *fields, "", ""].join("\r\n"))
        RawClient.request(server.port, "\x1b[2J\"\xff /\r\n\r\n".b)
        server.stop
        lines = File.binread(path).lines
        assert_equal 2, lines.size
        lines.each { |line| assert_match(/\A[ -~]+\n\z/, line) }
        next if format == "combined"

        assert_equal ["a\"b\\ \t\u00e4\ufffd\ufffd", "\u{1f600}"], JSON.parse(lines.first).values_at("user_agent", "referer")
      end
    end
  end

  # Request ids.

  def test_the_application_has_the_id_of_the_log
    open_logged("--log-format", "json", "-w", "2") do |server|
      ids = Array.new(20) { get(server, "/ids").body }
      ids << get(server, "/ids", "X-Request-Id: proxys.id-1").body
      ids << get(server, "/ids", "X-Request-Id: not an id").body
      assert_equal "proxys.id-1", ids[20]
      assert_equal ids.uniq, ids
      assert_equal 21, ids.grep(/\A\h{32}\z/).size
      assert_equal ids.sort, entries_at_end(server).map { |entry| entry["request_id"] }.sort
    end
  end

  def test_an_application_that_changes_an_id_in_place
    open_logged("--log-format", "json") do |server|
      changed, id = get(server, "/changes_id").body.split
      assert_equal "#{id}x", changed
      assert_equal([id], entries_at_end(server).map { |entry| entry["request_id"] })
    end
  end

  def test_a_name_with_underscores_does_not_stand_for_the_field
    open_logged("--underscores-in-headers") do |server|
      assert_match(/\A\h{32}\z/, get(server, "/ids", "X_Request_Id: mine").body)
    end
  end

  # The server adds nothing for a log that does not exist.
  def test_without_a_log_the_field_is_the_client_s
    open_server do |server|
      assert_equal "", get(server, "/ids").body.strip
      assert_equal "mine", get(server, "/ids", "X-Request-ID: mine").body.strip
    end
  end

  # Times

  def test_the_time_at_the_proxy_and_in_the_application
    open_logged("--log-format", "json") do |server|
      get(server, "/sleeps", "X-Request-Start: t=#{format("%.3f", Time.now.to_f - 2)}")
      get(server, "/sleeps", "X-Request-Start: #{((Time.now.to_f - 2) * 1000).round}")
      get(server, "/sleeps", "X-Request-Start: t=#{((Time.now.to_f - 2) * 1_000_000).round}")
      get(server, "/sleeps")
      entries = entries_at_end(server)
      entries.first(3).each { |entry| assert_operator entry["queue_time"], :>=, 1.99 }
      assert_operator entries.last["queue_time"], :<, 1.9
      entries.each { |entry| assert_operator entry["application_time"], :>=, 0.05 }
    end
  end

  def test_a_trace
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    open_logged("--log-format", "json") do |server|
      get(server, "/text", "traceparent: #{parent}")
      get(server, "/text", "traceparent: #{parent.upcase}")
      assert_equal [parent, nil], entries_at_end(server).map { |entry| entry["traceparent"] }
    end
  end

  # Rotation

  CLIENTS = 4
  ROTATIONS = 3

  # @yield while clients send requests
  # @return [Array<String>] the targets that they have asked for
  def under_load(server)
    ended = false
    clients = Array.new(CLIENTS) { |number| Thread.new { ask_until(server, number) { ended } } }
    yield
    ended = true
    clients.flat_map(&:value)
  end

  def ask_until(server, number)
    targets = []
    RawClient.open(server.port) do |client|
      until yield
        targets << "/#{number}/#{targets.size}"
        client.write("GET #{targets.last} HTTP/1.1\r\nHost: a\r\n\r\n")
        assert_equal 200, client.response.status
      end
    end
    targets
  end

  def test_no_line_is_lost_when_the_file_is_moved_away_under_load
    { "fibers" => 0, "threads:3" => 2, "inline" => 2 }.each do |mode, workers|
      open_logged("--mode", mode, "-w", workers.to_s, "--log-format", "json") do |server|
        files = []
        targets = under_load(server) { ROTATIONS.times { |index| files << move_away(server, "#{mode}.#{index}") } }
        assert_predicate server.stop, :success?
        lines = [*files, path].flat_map { |file| File.readlines(file) }
        assert_equal targets.sort, lines.map { |line| JSON.parse(line).fetch("target") }.sort, mode
      end
    end
  end

  # @return [String] where the file is now
  def move_away(server, name)
    File.join(@dir, name).tap do |moved|
      await { File.size?(path) }
      File.rename(path, moved)
      server.signal("HUP")
      await { File.exist?(path) }
    end
  end

  # As logrotate's copytruncate does, which loses what is written between its two calls.
  def test_a_file_that_is_truncated_is_written_from_its_beginning
    open_logged("--log-format", "json") do |server|
      get(server, "/before")
      await { File.size?(path) }
      File.truncate(path, 0)
      get(server, "/after")
      assert_equal(%w[/after], entries_at_end(server).map { |entry| entry["target"] })
    end
  end

  # A second stop signal

  def test_a_process_that_exits_at_once_writes_its_lines
    [%w[-w 0 --mode fibers], %w[-w 0 --mode threads:2], %w[-w 2]].each do |options|
      open_logged("--drain-delay", "600", "--log-format", "json", *options) do |server|
        server.signal("TERM")
        server.await(/draining begins in 600 s/)
        sleep Upwell::Server::Control::Commands::SAME_STOP
        get(server, "/text")
        server.signal("TERM")
        assert_equal [1, ["/text"]], [server.await_end.exitstatus, File.readlines(path).map { |line| JSON.parse(line)["target"] }], options
      end
    end
  end

  # A named pipe holds the request that remains.
  def test_a_process_that_exits_by_its_deadline_writes_its_lines
    [%w[-w 0 --mode threads:2], %w[-w 1 --mode threads:2]].each do |options|
      open_logged("--drain-timeout", "0.1", "--log-format", "json", *options) do |server|
        fifo = File.join(@dir, "served", "fifo")
        File.exist?(fifo) || File.mkfifo(fifo)
        RawClient.open(server.port) do |client|
          client.write("GET /abandoned HTTP/1.1\r\nHost: a\r\n\r\n")
          File.open(fifo, "w") do
            get(server, "/text")
            server.signal("TERM")
            assert_equal [1, ["/text"]], [server.await_end.exitstatus, File.readlines(path).map { |line| JSON.parse(line)["target"] }], options
          end
        end
      end
    end
  end

  def test_lines_that_are_lost_are_told
    open_server("--access-log", "/dev/full") do |server|
      client = Thread.new { loop { get(server, "/text") && sleep(0.01) } }
      server.await(/access log lines were dropped: No space left on device; check the disk of the log/)
    ensure
      client&.kill&.join
    end
  end

  def test_standard_output
    open_server("--access-log", "--mode", "inline") do |server|
      get(server, "/text")
      assert_match LINE, server.await(/GET/).string
    end
  end

  # At a terminal

  NO_ENVIRONMENT = { "RACK_ENV" => nil, "RAILS_ENV" => nil }.freeze
  COLOURED = /^\e\[32m200\e\[0m GET \/text\?a=\\x22 \d+\.\d ms\r$/

  # @return [String] what a person sees of a server that has answered a request
  def seen_at_terminal(*options, environment: {})
    reader, _writer, pid = PTY.spawn(*terminal_command(options, environment))
    shown = +""
    show_until(reader, shown, / serves on /)
    yield Integer(shown[/:(\d+) \(/, 1])
    Process.kill("TERM", pid)
    show_until(reader, shown, nil)
  ensure
    Process.kill("KILL", pid)
    Process.wait(pid)
    reader.close
  end

  def terminal_command(options, environment)
    environment = { **NO_ENVIRONMENT, "FOLDER" => File.join(@dir, "served"), **environment }
    app = File.join(ServerProcess::APPS, "access_log.ru")
    ServerProcess.spawn_arguments("-b", "127.0.0.1", "-p", "0", *options, app, environment: environment)
  end

  # A terminal ends with EIO.
  def show_until(reader, shown, pattern)
    Timeout.timeout(ServerProcess::START_MAX) { shown << reader.readpartial(4096) until pattern && shown.match?(pattern) }
    shown
  rescue EOFError, Errno::EIO
    shown
  end

  def test_a_person_who_develops_sees_each_request
    seen = seen_at_terminal { |port| RawClient.get(port, '/text?a="') }
    assert_match COLOURED, seen
    seen = seen_at_terminal("-w", "1", "--mode", "threads:2") { |port| RawClient.get(port, '/text?a="') }
    assert_match COLOURED, seen
  end

  def test_otherwise_a_terminal_shows_no_requests
    { ["--log-format", "json"] => {}, ["-E", "production"] => {}, [] => { "RAILS_ENV" => "production" },
      ["--access-log", path] => {} }.each do |options, environment|
      seen = seen_at_terminal(*options, environment: environment) { |port| RawClient.get(port, "/text") }
      refute_match(%r{GET /text}, seen, options.inspect)
    end
  end

  def test_a_quiet_server_shows_nothing
    socket = File.join(@dir, "socket")
    reader, _writer, pid = PTY.spawn(*terminal_command(["-b", "unix:#{socket}", "--quiet"], {}))
    await { File.socket?(socket) }
    UNIXSocket.open(socket) { |client| client.write("GET /text HTTP/1.0\r\n\r\n") && client.read }
    Process.kill("TERM", pid)
    assert_equal "", show_until(reader, +"", nil)
  ensure
    Process.kill("KILL", pid)
    Process.wait(pid)
    reader.close
  end

  MISTAKES = {
    %w[--access-log config.ru] => /option access_log: config.ru is a Rack application; name a file, or put config.ru before --access-log$/,
    %w[--access-log .] => /option access_log: \. is a directory; name a file, or put \. before --access-log$/,
    %w[--access-log=/nowhere/log] => /log file \/nowhere\/log cannot be written: .*; choose another with --access-log$/,
    %w[--access-log=- --access-log-except up] => /option access_log_except: must be paths that begin with a slash, without a query, got/,
    %w[--access-log-except /up] => /access_log_except has no effect without access_log; add --access-log, or remove --access-log-except$/,
    %w[--log-format xml] => /option log_format: must be combined or json, got "xml"$/
  }.freeze

  def test_what_is_wrong_is_told
    File.write(File.join(@dir, "config.ru"), "run ->(_env) { [200, {}, []] }\n")
    MISTAKES.each do |options, sentence|
      output, status = Open3.capture2e(*ServerProcess.spawn_arguments(*options), chdir: @dir)
      assert_match sentence, output
      assert_equal 1, status.exitstatus
    end
  end
end
