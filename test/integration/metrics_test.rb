# frozen_string_literal: true

require_relative "../test_helper"
require "open3"
require_relative "../support/tls_client"
require_relative "../support/websocket_client"

# The control address: metrics of all processes.
class MetricsTest < Minitest::Test
  PATIENCE = 60 # seconds
  CONTROL = %w[--control 127.0.0.1:0].freeze
  OPENMETRICS = "Accept: application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3\r\n"
  DURATION = "http_server_request_duration_seconds"
  STATUSES = { 200 => 5, 204 => 1, 302 => 2, 404 => 3, 503 => 4 }.freeze
  BAD_REQUEST = "GET / HTTP/1.1\r\n\r\n" # without a host
  PROMTOOL = ENV["PROMTOOL"] || "promtool"

  attr_reader :server, :control, :folder

  def serve(*arguments, control: CONTROL)
    Dir.mktmpdir do |folder|
      @folder = folder
      ServerProcess.open(*control, *arguments, app: "metrics.ru", environment: { "FOLDER" => folder }) do |server|
        @server = server
        @control = server.lines.join[%r{/metrics on http://127\.0\.0\.1:(\d+)}, 1].to_i
        Timeout.timeout(PATIENCE) { yield server }
      end
    end
  end

  def scrape(fields = "", method: "GET", path: "/metrics")
    RawClient.open(control) do |client|
      client.write("#{method} #{path} HTTP/1.1\r\nHost: a\r\n#{fields}\r\n")
      client.response(head: method == "HEAD")
    end
  end

  # @return [Hash{String => Float}] the value of each series
  def samples
    scrape.body.lines.grep_v(/\A#/).to_h { |line| line.match(/\A(.+) (\S+)\n/).captures }.transform_values(&:to_f)
  end

  # @param labels [Hash] that the series have, among others
  # @return [Float]
  def total(name, labels = {}, all = samples)
    all.sum { |series, value| series[/\A\w+/] == name && labels.all? { |label, text| series.include?("#{label}=\"#{text}\"") } ? value : 0 }
  end

  def await
    sleep 0.02 until yield
  end

  def get(path)
    RawClient.get(server.port, path)
  end

  def hold
    client = RawClient.new(server.port)
    client.write("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
    await { File.exist?(File.join(folder, "begun")) }
    client
  end

  def release(client)
    File.write(File.join(folder, "go"), "")
    assert_equal 200, client.response.status
  end

  # The child process has the socket, too.
  def test_a_child_process_of_the_application_does_not_keep_the_control_address
    Dir.mktmpdir do |folder|
      app = File.join(folder, "config.ru")
      File.write(app, "run ->(_) { [200, {}, [Process.detach(fork { sleep 1000 }).pid.to_s]] }")
      ServerProcess.open(*CONTROL, app: app) do |server|
        child = RawClient.get(server.port, "/").body.to_i
        port = server.lines.join[%r{/metrics on http://127\.0\.0\.1:(\d+)}, 1].to_i
        assert_predicate server.stop, :success?
        assert_raises(Errno::ECONNREFUSED) { TCPSocket.new("127.0.0.1", port) }
      ensure
        Process.kill("KILL", child) if child
      end
    end
  end

  def send_all
    STATUSES.each { |status, count| count.times { assert_equal status, get("/#{status}").status } }
    2.times { RawClient.request(server.port, "POST /200 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc") }
    3.times { assert_equal 400, RawClient.request(server.port, BAD_REQUEST).status }
  end

  # @return [Array<Array(String, String)>] method and class of status of each line of the access log
  def logged
    File.readlines(File.join(folder, "access.log")).map { |line| line.match(/"(\S+) .*" (\d)\d\d /).captures }
  end

  def counted
    all = samples
    %w[GET POST].to_h { |verb| [verb, (1..5).to_h { |number| [number.to_s, count(verb, number, all)] }] }
  end

  def count(verb, number, all)
    total("#{DURATION}_count", { http_request_method: verb, http_response_status_class: "#{number}xx" }, all)
  end

  def check_counts
    gets = { "1" => 0, "2" => 6, "3" => 2, "4" => 3, "5" => 4 }
    posts = { "1" => 0, "2" => 2, "3" => 0, "4" => 0, "5" => 0 }
    assert_equal({ "GET" => gets, "POST" => posts }, counted)
    all = samples
    assert_equal 3, total("upwell_requests_refused_total", { http_response_status_code: "400" }, all)
    assert_equal 17, total("#{DURATION}_bucket", { le: "+Inf" }, all)
    assert_equal 17, total("upwell_queue_time_seconds_count", {}, all)
    assert_equal 20, total("upwell_connections_accepted_total", {}, all)
    await { total("http_server_active_requests").zero? && total("upwell_connections").zero? }
  end

  def test_counts_agree_with_the_responses
    each_backend_and_mode do |backend, mode|
      %w[0 2].each do |workers|
        serve("--backend", backend, "--mode", mode, "-w", workers) do
          send_all
          check_counts
          info = samples.keys.grep(/\Aupwell_info/).first
          assert_includes info, "mode=\"#{mode}\",backend=\"#{backend}\""
        end
      end
    end
  end

  def test_counts_agree_with_the_access_log
    path = Dir.mktmpdir
    serve("-w", "2", "--access-log", File.join(path, "access.log")) do
      send_all
      expected = counted.flat_map { |verb, classes| classes.flat_map { |number, count| [[verb, number]] * count } }
      refused = total("upwell_requests_refused_total")
      server.stop
      @folder = path
      assert_equal (expected + ([%w[GET 4]] * refused)).sort, logged.sort
    end
  ensure
    FileUtils.rm_rf(path)
  end

  def test_gauges_of_current_requests_and_connections
    each_backend_and_mode do |backend, mode|
      serve("--backend", backend, "--mode", mode, *ServerProcess::PATIENT) do # no timer wakes the loop
        idle = RawClient.new(server.port).tap { |client| client.write("GET /200 HTTP/1.1\r\nHost: a\r\n\r\n") }
        assert_equal 200, idle.response.status
        held = hold
        assert_equal 1, total("http_server_active_requests")
        assert_equal 1, total("upwell_connections", { state: "idle" })
        assert_equal 1, total("upwell_connections", { state: "active" })
        release(held)
        await { total("http_server_active_requests").zero? }
        RawClient.open(server.port) do |client| # no event follows the end of its request
          client.write("GET /late HTTP/1.1\r\nHost: a\r\n\r\n")
          assert_equal "abc", client.response.body
          await { total("http_server_active_requests").zero? }
        end
      end
    end
  end

  def test_long_lived_clients_and_messages
    serve("-w", "1") do
      RawClient.listen(server.port, "/") do |listener|
        listener.socket.readline
        socket = WebSocketClient.new(server.port, "/")
        await { total("upwell_websocket_clients") == 1 }
        assert_equal 1, total("upwell_event_stream_clients")
        socket.close
        await { total("upwell_websocket_clients").zero? }
      end
      2.times { get("/publish") }
      await { total("upwell_messages_published_total") == 2 }
      before = total("ruby_gc_count_total")
      get("/gc")
      assert_operator total("ruby_gc_count_total"), :>, before
    end
  end

  def test_tls_handshakes
    serve(*Certificates.options) do
      3.times { assert_equal 200, TLSClient.get(server.port, "/200").status }
      TCPSocket.new("127.0.0.1", server.port).close # without a handshake
      await { total("upwell_connections_accepted_total") == 4 }
      assert_equal 3, total("upwell_tls_handshakes_total")
    end
  end

  def test_expiry_of_the_certificate
    Dir.mktmpdir do |directory|
      file = File.join(directory, "server.pem")
      old, renewed = [1_000, 2_000].map { |seconds| Certificates.authority.issue("127.0.0.1", until_seconds: seconds) }
      FileUtils.cp(old.bundle, file)
      serve("-w", "1", "--secure", "--cert-file", file) do
        assert_equal old.certificate.not_after.to_i, total("upwell_tls_certificate_expiry_timestamp_seconds")
        FileUtils.cp(renewed.bundle, file)
        server.signal("HUP")
        await { total("upwell_tls_certificate_expiry_timestamp_seconds") == renewed.certificate.not_after.to_i }
      end
    end
  end

  def test_queue_time_of_a_local_proxy
    serve do
      start = Time.now.to_f - 3
      RawClient.request(server.port, "GET /200 HTTP/1.1\r\nHost: a\r\nX-Request-Start: t=#{start}\r\n\r\n")
      assert_operator total("upwell_queue_time_seconds_sum"), :>=, 3
    end
  end

  def test_a_stopped_worker_is_shown
    serve("-w", "2", "--worker-timeout", "40") do
      send_all
      before = total("#{DURATION}_count")
      pid = server.workers.first
      Process.kill("STOP", pid)
      all = samples
      assert_equal before, total("#{DURATION}_count", {}, all)
      assert_equal 2, all.count { |series, value| series.start_with?("process_resident_memory_bytes") && value.positive? }
      await { total("upwell_workers", { state: "silent" }) == 1 }
      Process.kill("CONT", pid)
      await { total("upwell_workers", { state: "serving" }) == 2 }
    end
  end

  def test_a_killed_worker_loses_no_count
    serve("-w", "1") do
      send_all
      before = total("#{DURATION}_count")
      hold
      assert_equal 1, total("http_server_active_requests")
      Process.kill("KILL", server.workers.first)
      await { total("upwell_worker_restarts_total", { reason: "died" }) == 1 && total("upwell_workers", { state: "serving" }) == 1 }
      assert_equal 0, total("http_server_active_requests")
      assert_equal before, total("#{DURATION}_count")
      get("/200")
      assert_equal before + 1, total("#{DURATION}_count")
    end
  end

  def test_reasons_of_restarts
    { "STOP" => "no_heartbeat", "TERM" => "stop_signal" }.each do |signal, reason|
      serve("-w", "1", "--worker-timeout", "4") do
        pid = server.workers.first
        Process.kill(signal, pid)
        await { total("upwell_worker_restarts_total", { reason: reason }).positive? && total("upwell_workers", { state: "serving" }) == 1 }
        refute_includes server.workers, pid
      end
    end
  end

  def test_counters_do_not_decrease_in_a_phased_restart
    serve("-w", "2") do
      counts = []
      3.times do |round|
        send_all
        server.signal("USR1")
        await do
          counts << total("#{DURATION}_count")
          total("upwell_worker_restarts_total", { reason: "phased_restart" }) == (round + 1) * 2
        end
      end
      assert_equal counts.sort, counts
      assert_equal 51, total("#{DURATION}_count")
    end
  end

  def test_scrapes_under_load_cost_no_request
    serve("-w", "2") do
      clients = Array.new(4) { Thread.new { Array.new(50) { get("/200").status } } }
      scrapes = 0
      await { samples && (scrapes += 1) && clients.none?(&:alive?) }
      assert_equal [200] * 200, clients.flat_map(&:value)
      assert_equal 200, total("#{DURATION}_count")
      assert_operator scrapes, :>, 0
    end
  end

  def test_formats
    serve("-w", "1") do
      get("/200")
      text = scrape
      assert_equal ["text/plain; version=0.0.4; charset=utf-8"], text.headers["content-type"]
      refute_includes text.body, "# EOF"
      open = scrape(OPENMETRICS)
      assert_equal ["application/openmetrics-text; version=1.0.0; charset=utf-8"], open.headers["content-type"]
      assert open.body.end_with?("\n# EOF\n")
      assert_includes open.body, "# TYPE upwell_timeouts counter\nupwell_timeouts_total{worker=\"0\"} 0\n"
    end
  end

  def test_promtool_has_no_complaint
    serve("-w", "2") do
      send_all
      output, status = Open3.capture2e(PROMTOOL, "check", "metrics", stdin_data: scrape.body)
      assert status.success?, output
      assert_empty output
    rescue Errno::ENOENT
      skip "promtool is missing (Debian: prometheus)"
    end
  end

  def test_other_requests
    serve do
      head = scrape(method: "HEAD")
      assert_equal [200, ""], [head.status, head.body]
      assert_operator head.headers["content-length"].first.to_i, :>, 0
      assert_equal 404, scrape(path: "/").status
      assert_equal 404, scrape(path: "/metrics/").status
      refused = scrape("Content-Length: 0\r\n", method: "POST")
      assert_equal [405, ["GET, HEAD"]], [refused.status, refused.headers["allow"]]
      assert_match(/\A\d+\z/, get("/metrics").body) # the application answers
    end
  end

  def test_a_unix_socket
    Dir.mktmpdir do |directory|
      path = File.join(directory, "control.sock")
      UNIXServer.new(path).close # of a killed server
      %w[0 1].each do |workers|
        serve("-w", workers, control: ["--control", "unix:#{path}"]) do
          assert_equal "600", format("%o", File.stat(path).mode & 0o777)
          client = UNIXSocket.new(path)
          client.write("GET /metrics HTTP/1.0\r\n\r\n")
          assert_includes client.read, "\nupwell_info{"
          assert server.stop.success?
          refute_path_exists path
        end
      end
    end
  end

  def test_the_address_answers_until_the_end
    serve("-w", "1") do
      held = hold
      server.signal("TERM")
      await { total("upwell_workers", { state: "draining" }) == 1 }
      assert_equal 1, total("http_server_active_requests")
      release(held)
      assert server.await_end.success?
      assert_raises(Errno::ECONNREFUSED) { RawClient.new(control) }
    end
  end

  def test_a_worker_without_its_supervisor_does_not_keep_the_address
    serve("-w", "1") do
      held = hold
      server.kill
      assert_raises(Errno::ECONNREFUSED) { RawClient.new(control) }
      release(held)
    end
  end

  def refusal(*arguments)
    output, status = Open3.capture2e(*ServerProcess.spawn_arguments("-b", "127.0.0.1", "-p", "0", *arguments,
                                                                    File.join(ServerProcess::APPS, "metrics.ru")))
    refute status.success?
    assert_equal 1, output.lines.size, output
    output
  end

  def test_wrong_addresses
    %w[0.0.0.0:9394 192.0.2.1:9394 example.org:9394 127.0.0.1 127.0.0.1:65536 127.0.0.256:1 9394 [::]:9394].each do |address|
      assert_includes refusal("--control", address),
                      "control: must be unix:PATH or a loopback address with a port, such as 127.0.0.1:9394, got #{address.inspect}"
    end
    assert_includes refusal("--control", "unix:/nowhere/control.sock"), "choose another address with --control"
    other = TCPServer.new("127.0.0.1", 0)
    assert_match(/cannot listen on 127\.0\.0\.1:\d+: the port \d+ is taken; stop the other server, or choose another address with --control/,
                 refusal("--control", "127.0.0.1:#{other.local_address.ip_port}"))
  ensure
    other&.close
  end

  def test_the_guide_lists_each_metric
    guide = File.read(File.expand_path("../../docs/guide/metrics.md", __dir__))
    table = guide.lines.grep(/\A\| `/).map { |line| line.chomp.delete_prefix("| ").delete_suffix(" |").split(" | ") }
    expected = Upwell::Metrics.table.map do |name, type, labels, help|
      ["`#{name}`", type, labels.map { |label| "`#{label}`" }.join(", "), help]
    end
    assert_equal expected, table.map { |name, type, labels, help| [name, type, labels.strip, help] }
  end
end
