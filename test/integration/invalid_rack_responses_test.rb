# frozen_string_literal: true

require_relative "../test_helper"

# What the client gets of responses that the Rack SPEC or HTTP forbids, or that are at their edge.
module InvalidRackResponseTests
  NEXT = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"

  def get(path)
    RawClient.get(port, path)
  end

  # @return [String] all that comes to a request and one that follows it on the same connection
  def with_next(path, method: "GET", version: "1.1")
    RawClient.open(port) do |client|
      client.write("#{method} #{path} HTTP/#{version}\r\nHost: a:1\r\n\r\n#{NEXT}")
      client.socket.close_write
      client.read_all
    end
  end

  def assert_refused(path)
    text = with_next(path)
    assert_match(/\AHTTP\/1\.1 500 .*500 Internal Server Error\nHTTP\/1\.1 200 OK\r\n/m, text, path)
  end

  # The one response, after which the connection ends.
  def assert_last(path, **request)
    text = with_next(path, **request)
    assert_equal 1, text.scan("HTTP/1.1 ").size, text
    assert_match(/^connection: .*close/i, text)
    text
  end

  def test_a_header_that_cannot_be_written_is_an_error
    %w[/name-with-blank /name-empty /value-with-control-byte /value-with-delete].each { |path| assert_refused(path) }
  end

  def test_values_at_the_edge
    assert_equal "caf\u00E9\t!".b, get("/value-utf-8").headers["x"].first.b
    assert_equal 200_000, get("/value-large").headers["x"].first.bytesize
    response = get("/value-nil")
    assert_equal [nil, ["3"], "abc"], [response.headers["x"], response.headers["content-length"], response.body]
    assert_equal ["Sun, 06 Nov 1994 08:49:37 GMT"], get("/date").headers["date"]
  end

  def test_a_status_out_of_range_or_before_the_final_one_is_an_error
    [-200, 0, 99, 1000, 2**70, 100, 103].each { |status| assert_refused("/status?#{status}") }
    assert_equal [201, 299, 999], [get("/status-text").status, get("/status?299").status, get("/status?999").status]
  end

  def test_a_length_that_is_none_or_not_that_of_the_body_is_an_error
    ["2", "4", "-3", "abc", "", "99999999999999999999999"].each { |length| assert_refused("/length?#{length}") }
    assert_equal %w[abc abc], [get("/length?3").body, get("/length-array").body]
  end

  WRONG = {
    "/nil" => "the application returned nil instead of [status, headers, body]",
    "/two-values" => "the application returned an Array of size 2 instead of [status, headers, body]",
    "/string" => "the application returned an object of class String instead of [status, headers, body]",
    "/body-number" => "the response body is an object of class Integer, but must be an Array, or respond to each or call",
    "/body-nil" => "the response body is nil, but must be an Array, or respond to each or call"
  }.freeze

  def test_an_object_that_is_no_response_is_named
    WRONG.each do |path, sentence|
      assert_refused(path)
      server.await(/Error during GET #{path}: .*#{Regexp.escape(sentence)} \(TypeError\)/)
    end
  end

  def test_what_has_no_content_sends_none
    text = with_next("/204")
    assert_match(/\AHTTP\/1\.1 204 No Content\r\nDate: [^\r]+\r\n\r\nHTTP\/1\.1 200 /, text)
    assert_match(/\AHTTP\/1\.1 304 .*Content-Length: 3\r\n\r\nHTTP\/1\.1 200 /m, with_next("/304"))
  end

  def test_the_application_ends_the_connection
    %w[close Close x,close x&close].each { |value| assert_last("/connection?#{value}") }
    assert_match(/HTTP\/1\.1 200.*HTTP\/1\.1 200/m, with_next("/connection?keep-alive"))
    assert_equal [["upgrade"], ["h2c"]], get("/upgrade-required").headers.values_at("connection", "upgrade")
  end

  def test_the_framing_of_an_application_never_reaches_the_next_response
    assert_match(/\r\n\r\n3\r\nabc\r\n0\r\n\r\n\z/, assert_last("/coding-right"))
    assert_match(/\r\n\r\nabc\z/, assert_last("/coding-other"))
    refute_match(/content-length/i, assert_last("/coding-wrong"))
    assert_match(/\AHTTP\/1\.1 500 /, with_next("/coding-right", version: "1.0"))
  end

  def test_a_connect_is_not_followed_by_requests
    text = assert_last("a:1", method: "CONNECT")
    refute_match(/content-length|transfer-encoding/i, text)
    assert_match(/\r\n\r\n\z/, text)
  end

  def test_a_body_that_fails_late_is_sent_as_far_as_it_came
    %w[/raise-late /raise-late-sized].each do |path|
      text = with_next(path)
      assert_match(/\r\n\r\n(5\r\n)?begun(\r\n)?\z/, text)
    end
    assert_match(/\r\n\r\n1\r\na\r\n\z/, with_next("/not-a-string-late"))
  end

  def test_a_body_that_fails_at_once_is_an_error
    %w[/raise-first /not-a-string /not-a-string-in-array].each { |path| assert_refused(path) }
  end

  def test_a_close_that_raises_harms_nobody
    assert_match(/\A.*\r\n3\r\nabc\r\n0\r\n\r\nHTTP\/1\.1 200 /m, with_next("/close-raises"))
    server.await(/on purpose \(RuntimeError\)/)
  end

  def test_files_by_path
    response = get("/file")
    content = File.binread(File.join(ServerProcess::APPS, "invalid_rack_responses.ru"))
    assert_equal [[content.bytesize.to_s], content], [response.headers["content-length"], response.body.b]
    %w[/file-missing /file-nil /file-of-other-length /folder].each { |path| assert_equal "from each", get(path).body, path }
  end

  def test_what_is_kept_of_a_request_ends_with_it
    RawClient.request(port, "POST /keep HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
    refute_match(/leaked/, get("/env").body)
    %w[/use-kept /call-kept].each { |path| assert_refused(path) }
    server.await(/after the end of its request/)
  end

  def test_a_block_kept_longer_than_the_response_is_closed
    assert_equal "abc", get("/block-kept").body
    assert_equal "the response stream is closed, so nothing more can be written", get("/call-block-kept").body
  end

  def test_other_threads_write_where_the_loop_is_not_theirs
    body = get("/other-thread").body
    mode == "inline" ? assert_match(/\Ain mode inline only/, body) : assert_equal("othernone", body)
  end

  def test_the_response_ends_when_no_thread_writes_any_more
    skip "only mode threads lets other threads write" if mode == "inline"

    assert_match(/\Axy+\z/, get("/other-thread-waits").body)
    assert_equal 200, get("/hello").status
  end

  def test_a_timeout_around_a_write_that_waits_does_not_end_the_server
    RawClient.open(port) do |client|
      client.write("GET /expires-writing HTTP/1.1\r\nHost: a\r\n\r\n")
      client.socket.readpartial(1)
      sleep 0.5 # until the time is up, which nobody is told
      assert_equal 200, get("/hello").status
    end
  end

  def test_early_hints_that_cannot_be_written_leave_nothing_behind
    RawClient.open(port) do |client|
      client.write("GET /hints-wrong HTTP/1.1\r\nHost: a\r\n\r\nGET /hints-framing HTTP/1.1\r\nHost: a\r\n\r\n")
      response = client.response
      assert_equal 200, response.status
      assert_match(/HTTP forbids a character of the name/, response.body)
      hints = client.response
      assert_equal [103, { "link" => ["</a>"] }], [hints.status, hints.headers]
      assert_equal "abc", client.response.body
    end
  end

  def test_reading_into_a_buffer_that_reads_itself
    response = RawClient.request(port, "POST /greedy-buffer HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde")
    assert_equal "nil", response.body
  end

  UNDERSCORES = "POST /env HTTP/1.1\r\nHost: a\r\nContent_Length: 9\r\nContent_Type: x\r\nTransfer_Encoding: y\r\nX_Remote_User: z\r\n" \
                "X-A_B: c\r\nX-A-B: d\r\nContent-Length: 1\r\n\r\na"

  def test_names_with_underscores_are_dropped
    body = RawClient.request(port, UNDERSCORES).body
    assert_match(/^CONTENT_LENGTH: 1$/, body)
    assert_match(/^HTTP_X_A_B: d$/, body)
    refute_match(/HTTP_X_REMOTE_USER|HTTP_CONTENT|HTTP_TRANSFER|CONTENT_TYPE/, body)
  end

  def test_names_with_underscores_that_are_kept_do_not_pass_for_others
    ServerProcess.open("--mode", mode, "--underscores-in-headers", app: "invalid_rack_responses.ru") do |server|
      body = RawClient.request(server.port, UNDERSCORES).body
      assert_match(/^CONTENT_LENGTH: 1$/, body)
      assert_match(/^HTTP_X_A_B: d$/, body)
      assert_match(/^HTTP_X_REMOTE_USER: z$/, body)
      refute_match(/HTTP_CONTENT|HTTP_TRANSFER|CONTENT_TYPE/, body)
    end
  end

  def test_the_server_is_named_by_the_host_or_the_target
    { "GET /env HTTP/1.1\r\nHost: [::1]:8080" => ["[::1]", "8080"], "GET /env HTTP/1.1\r\nHost: a:" => %w[a 80],
      "GET http://b:81/env HTTP/1.1\r\nHost: a" => %w[b 81], "GET /env HTTP/1.1\r\nHost: " => ["127.0.0.1", port.to_s],
      "GET /env HTTP/1.0" => ["127.0.0.1", port.to_s] }.each do |head, (name, number)|
      body = RawClient.request(port, "#{head}\r\n\r\n").body
      assert_match(/^SERVER_NAME: #{Regexp.escape(name)}\nSERVER_PORT: #{number}$/, body)
    end
  end
end

MODES.each do |mode_name|
  Object.const_set("EdgeCaseResponses#{mode_name.capitalize.delete(":")}Test", Class.new(Minitest::Test) do
    include InvalidRackResponseTests

    servers = {}
    Minitest.after_run { servers.each_value(&:kill) }
    define_method(:server) { servers[:one] ||= ServerProcess.new("--mode", mode_name, app: "invalid_rack_responses.ru") }
    define_method(:port) { server.port }
    define_method(:mode) { mode_name }
  end)
end

# Where the listener's address names the server.
class ListenerNameTest < Minitest::Test
  def test_an_address_of_ipv6_is_in_brackets
    skip "no IPv6 here" unless Socket.ip_address_list.any?(&:ipv6_loopback?)

    ServerProcess.open("-b", "[::1]:0", app: "invalid_rack_responses.ru") do |server|
      port = server.lines.join[/\[::1\]:(\d+)/, 1]
      assert_match(/^SERVER_NAME: \[::1\]\nSERVER_PORT: #{port}\nSERVER_PROTOCOL.*\nREMOTE_ADDR: ::1$/m, get(TCPSocket.new("::1", port)))
    end
  end

  def test_a_unix_socket_has_no_address
    Dir.mktmpdir do |folder|
      path = File.join(folder, "socket")
      ServerProcess.open("-b", "unix:#{path}", app: "invalid_rack_responses.ru") do
        assert_match(/^SERVER_NAME: localhost\nSERVER_PORT: 80\n.*\nREMOTE_ADDR: \S+$/m, get(UNIXSocket.new(path)))
      end
    end
  end

  private

  def get(socket)
    socket.write("GET /env HTTP/1.0\r\n\r\n")
    socket.read
  ensure
    socket.close
  end
end
