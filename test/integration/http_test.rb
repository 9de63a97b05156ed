# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/host_field_values"

# HTTP/1.1 and Rack over real sockets, on every backend in every mode.
module HTTPTests
  include HostFieldValues

  def get(path)
    RawClient.get(port, path)
  end

  def request(text)
    RawClient.request(port, text)
  end

  def test_the_backend_and_mode_asked_for_are_in_use
    assert_match(/\(#{backend}, #{mode}\)/, server.lines.join)
  end

  def test_hello
    response = get("/")
    assert_equal [200, "Hello World"], [response.status, response.body]
    assert_equal ["11"], response.headers["content-length"]
    assert_match(/\A\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\z/, response.headers["date"].first)
  end

  def test_env
    env = JSON.parse(request("POST /env?a=b HTTP/1.1\r\nHost: example.org:81\r\nX-A: 1\r\nX-A: 2\r\nX_A: evil\r\n" \
                             "Cookie: a=1\r\nCookie: b=2\r\nContent-Type: text/x\r\nContent-Length: 2\r\n\r\nhi").body)
    expected = { "REQUEST_METHOD" => "POST", "PATH_INFO" => "/env", "QUERY_STRING" => "a=b", "SCRIPT_NAME" => "",
                 "SERVER_NAME" => "example.org", "SERVER_PORT" => "81", "HTTP_HOST" => "example.org:81", "HTTP_X_A" => "1, 2",
                 "HTTP_COOKIE" => "a=1; b=2", "CONTENT_TYPE" => "text/x", "CONTENT_LENGTH" => "2", "REMOTE_ADDR" => "127.0.0.1",
                 "REQUEST_URI" => "/env?a=b", "SERVER_SOFTWARE" => "Upwell/#{Upwell::VERSION}", "SERVER_PROTOCOL" => "HTTP/1.1", "rack.url_scheme" => "http" }
    assert_equal expected, env.slice(*expected.keys)
    assert_includes 1024..65_535, Integer(env["REMOTE_PORT"])
  end

  # Rack::Lint refuses what RFC 3986 does, and answers would be 500.
  def test_hosts
    SOUND_HOSTS.each { |host| assert_equal 200, request("GET /env HTTP/1.1\r\nHost: #{host}\r\n\r\n").status, host }
    UNSOUND_HOSTS.each { |host| assert_equal 400, request("GET /env HTTP/1.1\r\nHost: #{host}\r\n\r\n").status, host }
    UNSOUND_HOSTS.each { |host| assert_equal 400, request("GET http://#{host}/env HTTP/1.1\r\nHost: a\r\n\r\n").status, host }
  end

  def test_as_many_headers_as_are_allowed
    assert_equal [200, 431], [97, 100].map { |count| many_headers(port, count).status }
    ServerProcess.open("--backend", backend, "--mode", mode, "--headers-max", "3000") do |other|
      env = JSON.parse(many_headers(other.port, 2_998).body)
      assert_equal Array.new(2_998, &:to_s), Array.new(2_998) { |i| env["HTTP_X_#{i}"] }
      assert_equal "ab, #{(["a"] * 1000).join(", ")}", JSON.parse(many_headers(other.port, 1_000, "X: a\r\n" * 1000, "X: ab\r\n").body)["HTTP_X"]
      assert_equal 431, many_headers(other.port, 3_000).status
    end
  end

  # @return [RawClient::Response] to a request that has so many headers beside two others
  def many_headers(port, count, behind = "", before = "")
    headers = Array.new(count) { |i| "X-#{i}: #{i}\r\n" }.join
    request = "GET /env HTTP/1.1\r\nHost: a\r\n#{before}#{headers}#{behind}Connection: close\r\n\r\n"
    RawClient.request(port, request)
  end

  def test_an_upload_of_signed_chunks
    chunk = "x" * 65_536
    chunks = "10000;chunk-signature=#{"0" * 64}\r\n#{chunk}\r\n" * 32
    text = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n#{chunks}0;chunk-signature=#{"0" * 64}\r\n\r\n"
    assert_equal (chunk.bytesize * 32).to_s, request(text).headers["x-length"].first
  end

  def test_an_upload_of_tiny_chunks_is_written_in_large_pieces
    pieces = Array.new(100_000) { |i| (i % 10).to_s } + Array.new(40) { |i| i.to_s[-1] * ((10**(i % 5)) + i) }
    chunks = pieces.map { |piece| "#{piece.bytesize.to_s(16)}\r\n#{piece}\r\n" }.join
    before = writes
    response = request("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n#{chunks}0\r\n\r\n")
    assert_equal pieces.join, response.body
    assert_operator writes - before, :<, pieces.size / 10
  end

  # @return [Integer] how often the server has written to files
  def writes
    Integer(File.read("/proc/#{server.pid}/io")[/^syscw: (\d+)/, 1])
  end

  def test_bodies_in_memory_in_a_file_and_chunked
    small = "x" * 1000
    large = Random.bytes(300_000)
    [small, large].each do |body|
      assert_equal body.b, request("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}".b).body.b
      chunks = body.b.scan(/.{1,7000}/mn).map { |chunk| "#{chunk.bytesize.to_s(16)}\r\n".b + chunk + "\r\n" }.join
      text = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".b + chunks + "0\r\nTrailer: x\r\n\r\n"
      assert_equal body.b, request(text).body.b
    end
  end

  def test_input_reads_lines_and_pieces
    body = "first\nabcdef\nlast"
    response = request("POST /lines HTTP/1.1\r\nHost: a\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}")
    assert_equal ["first\n", "abc", ["def\n", "last"]], JSON.parse(response.body)
  end

  def test_each_request_has_an_input_of_its_own
    assert_equal ["[]"] * 4, Array.new(2) { Array.new(2) { Thread.new { get("/marks-input").body } }.map(&:value) }.flatten
  end

  def test_a_head_and_body_byte_by_byte
    RawClient.open(port) do |client|
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc".each_char { |byte| client.write(byte) }
      assert_equal "abc", client.response.body
    end
  end

  def test_pipelined_requests_are_answered_in_order
    RawClient.open(port) do |client|
      client.write(Array.new(50) { |i| "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: #{i.to_s.size}\r\n\r\n#{i}" }.join)
      assert_equal (0...50).map(&:to_s), Array.new(50) { client.response.body }
    end
  end

  def test_expect_continue
    RawClient.open(port) do |client|
      client.write("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
      assert_equal 100, client.response.status
      client.write("abc")
      assert_equal "abc", client.response.body
    end
  end

  def test_http_1_0
    RawClient.open(port) do |client|
      client.write("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      assert_equal ["keep-alive"], client.response.headers["connection"]
      client.write("GET /each-piece HTTP/1.0\r\n\r\n")
      assert_match(/\r\n\r\nonetwothree\z/, client.read_all)
    end
  end

  def test_head_and_statuses_without_content
    RawClient.open(port) do |client|
      client.write("HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET /no-content HTTP/1.1\r\nHost: a\r\n\r\n" \
                   "GET /not-modified HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
      head = client.response(head: true)
      assert_equal [200, ["11"]], [head.status, head.headers["content-length"]]
      no_content = client.response
      assert_nil no_content.headers["content-length"]
      assert_equal [204, 304, 200], [no_content.status, client.response.status, client.response.status]
    end
  end

  def test_kinds_of_bodies
    assert_equal "onetwothree", get("/each-piece").body
    assert_equal ["chunked"], get("/each-piece").headers["transfer-encoding"]
    assert_equal "abcdef", get("/sized").body
    assert_equal File.binread(File.join(ServerProcess::APPS, "app.ru")), get("/file").body.b
    assert_equal 20_000_000, get("/big").body.bytesize
  end

  def test_a_callable_body
    skip "Rack 2 knows no callable body" if RACK_2

    assert_equal "abc", get("/stream").body
  end

  def test_bodies_are_closed_also_when_the_client_leaves
    before = get("/closed").body.to_i
    get("/each-piece")
    RawClient.open(port) do |client|
      client.write("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
      client.socket.readpartial(1000)
    end
    await { get("/closed").body.to_i == before + 2 }
  end

  def test_a_wrong_length_never_reaches_the_next_response
    %w[/too-long /too-short /raise-late].each do |path|
      RawClient.open(port) do |client|
        client.write("GET #{path} HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        text = client.read_all
        refute_includes text, "Hello World"
        refute_match(/\r\n0\r\n\r\n\z/, text)
      end
    end
  end

  def test_an_exception_is_500_and_the_connection_goes_on
    RawClient.open(port) do |client|
      client.write("GET /raise-error HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
      assert_equal [500, 200], [client.response.status, client.response.status]
    end
    server.await(/on purpose \(RuntimeError\)/)
  end

  def test_response_splitting_is_refused
    response = get("/split")
    assert_equal 500, response.status
    assert_nil response.headers["set-cookie"]
  end

  def test_a_header_of_several_values
    assert_equal %w[a=1 b=2], get("/cookies").headers["set-cookie"]
  end

  def test_early_hints
    RawClient.open(port) do |client|
      client.write("GET /hints HTTP/1.1\r\nHost: a\r\n\r\n")
      assert_equal [103, 200], [client.response.status, client.response.status]
    end
  end

  def test_full_hijack_with_what_was_sent_ahead
    RawClient.open(port) do |client|
      client.write("GET /hijack HTTP/1.1\r\nHost: a\r\n\r\nahead")
      assert_match(/\r\n\r\nhijacked ahead\z/, client.read_all)
    end
  end

  def test_partial_hijack
    RawClient.open(port) do |client|
      client.write("GET /partial-hijack HTTP/1.1\r\nHost: a\r\n\r\n")
      assert_match(/\r\n\r\npartial\z/, client.read_all)
    end
  end

  def test_response_finished
    before = get("/finished-count").body.to_i
    get("/finished")
    await { get("/finished-count").body.to_i == before + 1 }
  end

  def test_asterisk_form
    assert_equal 200, request("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").status
  end

  REFUSED = {
    "GET / HTTP/1.1\r\n\r\n" => 400,
    "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" => 400,
    "GET / HTTP/1.1\r\nHost: a\r\nA : b\r\n\r\n" => 400,
    "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n c\r\n\r\n" => 400,
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n" => 400,
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n" => 400,
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1 \r\n" => 400,
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" => 501,
    "GET / HTTP/2.0\r\nHost: a\r\n\r\n" => 505,
    "GET / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n" => 417,
    "GET /#{"a" * 9000} HTTP/1.1\r\nHost: a\r\n\r\n" => 414,
    "GET / HTTP/1.1\r\nHost: a\r\nA: #{"a" * 70_000}\r\n\r\n" => 431,
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n" => 413
  }.freeze

  def test_bad_requests_are_refused_and_closed
    REFUSED.each do |text, status|
      RawClient.open(port) do |client|
        client.write("#{text}GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert_equal status, client.response.status, text[0, 100]
        assert_predicate client, :closed?
      end
    end
  end

  def test_a_half_closed_client_is_answered
    RawClient.open(port) do |client|
      client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      client.socket.close_write
      assert_match(/Hello World\z/, client.read_all)
    end
  end

  def test_clients_that_leave_at_any_stage_leave_nothing_behind
    get("/") # the loop opens its own descriptors after the server has told that it serves
    before = server.descriptors
    text = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789"
    (1...text.size).step(7) { |length| RawClient.open(port) { |client| client.write(text[0, length]) } }
    20.times do
      client = RawClient.new(port)
      client.write(text)
      client.socket.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii")) # a reset
      client.close
    end
    await { server.descriptors <= before }
    assert_equal 200, get("/").status
  end

  private

  # Asks again until true: the server tells of such changes by being asked only.
  def await
    Timeout.timeout(60) { Thread.pass until yield }
  end
end

BACKENDS.product(MODES).each do |backend_name, mode_name|
  Object.const_set("HTTP#{backend_name.capitalize}#{mode_name.capitalize.delete(":")}Test", Class.new(Minitest::Test) do
    include HTTPTests

    servers = {}
    Minitest.after_run { servers.each_value(&:kill) }
    define_method(:backend) { backend_name }
    define_method(:mode) { mode_name }
    define_method(:server) { servers[:one] ||= ServerProcess.new("--backend", backend_name, "--mode", mode_name, *ServerProcess::PATIENT) }
    define_method(:port) { server.port }
  end)
end
