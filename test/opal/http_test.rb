# frozen_string_literal: true

require "tempfile"
require_relative "../test_helper"
require_relative "../support/opal_runtimes"
require_relative "../support/tls_client"

# HTTP/1.1 and Rack over real sockets, on each JavaScript runtime.
module OpalHTTPTests
  include OpalRuntimes

  APP = File.expand_path("support/app.ru", __dir__)
  BYTES = (0..255).to_a.pack("C*")
  BIG_BYTES = 3_000_000
  BODY_BYTES_MAX = 4_000_000
  MUCH = 20_000_000 # the application's
  PIECES = 600 # of several MB together
  PIECE_BYTES = 65_536 # the application's
  CHUNK_BYTES = 70_000
  AHEAD = 65_536 # what a client takes that does not read
  PATIENCE = 60 # seconds
  FAILED = /\A(?:HTTP\/1\.1 (?:500 .*\r\n\r\n500 Internal Server Error\n|200 (?!.*\r\n0\r\n\r\n).*))?\z/m # it is told, or was begun, and cut
  UPGRADES = 20 # more than the listeners of an event that Node takes for a leak

  def setup
    need(command)
  end

  def get(path)
    RawClient.get(port, path)
  end

  def post(path, body, *headers)
    request(["POST #{path} HTTP/1.1", "Host: a", *headers, "Content-Length: #{body.bytesize}", "", ""].join("\r\n").b + body.b)
  end

  def request(text)
    RawClient.request(port, text)
  end

  # @return [Hash{String => String}] the env's strings
  def fields(head)
    request(head).body.lines(chomp: true).to_h { |line| line.split("=", 2) }
  end

  def test_a_response_and_its_head
    response = get("/")
    assert_equal [200, "Hello"], [response.status, response.body]
    assert_equal [["text/plain"], ["5"]], response.headers.values_at("content-type", "content-length")
    assert_match(/\A\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\z/, response.headers["date"].first)
  end

  def test_env
    env = fields("POST /fields?a=%20b HTTP/1.1\r\nHost: example.org:81\r\nX-A: 1\r\nX-A: 2\r\n" \
                 "Cookie: a=1\r\nCookie: b=2\r\nContent-Type: text/x\r\nContent-Length: 2\r\n\r\nhi")
    expected = { "REQUEST_METHOD" => "POST", "PATH_INFO" => "/fields", "QUERY_STRING" => "a=%20b", "SCRIPT_NAME" => "",
                 "REQUEST_URI" => "/fields?a=%20b",
                 "SERVER_NAME" => "example.org", "SERVER_PORT" => "81", "HTTP_HOST" => "example.org:81", "HTTP_X_A" => "1, 2",
                 "HTTP_COOKIE" => "a=1; b=2", "CONTENT_TYPE" => "text/x", "CONTENT_LENGTH" => "2", "REMOTE_ADDR" => "127.0.0.1",
                 "SERVER_SOFTWARE" => "Upwell/#{Upwell::VERSION}", "SERVER_PROTOCOL" => "HTTP/1.1" }
    assert_equal expected, env.slice(*expected.keys)
  end

  def test_names_with_underscores
    skip "uWebSockets.js waits for ever" if command == "up"

    names = %w[HTTP_X_A HTTP_X_B HTTP_CONTENT_LENGTH]
    text = "GET /fields HTTP/1.1\r\nHost: a\r\nX_A: evil\r\nX-A: 1\r\nX_B: 3\r\nContent_Length: 5\r\n\r\n"
    assert_equal ["1", nil, nil], fields(text).values_at(*names)
    OpalProcess.open(command, "--underscores-in-headers", app: APP) do |server|
      env = RawClient.request(server.port, text).body.lines(chomp: true).to_h { |line| line.split("=", 2) }
      assert_equal ["1", "3", nil], env.values_at(*names)
    end
  end

  def test_hosts
    [["a", "a", "80"], ["b:1", "b", "1"], ["[::1]", "[::1]", "80"], ["[::1]:2", "[::1]", "2"]].each do |host, name, port_number|
      assert_equal [name, port_number], fields("GET /fields HTTP/1.1\r\nHost: #{host}\r\n\r\n").values_at("SERVER_NAME", "SERVER_PORT")
    end
  end

  def test_methods_and_escapes
    %w[GET POST PUT PATCH DELETE OPTIONS].each do |name|
      env = fields("#{name} /fields?%C3%A9=%zz HTTP/1.1\r\nHost: a\r\n\r\n")
      assert_equal [name, "%C3%A9=%zz"], env.values_at("REQUEST_METHOD", "QUERY_STRING")
    end
    assert_equal "Hello", get("/a%20b").body
  end

  def test_a_field_of_bytes
    assert_equal "a\u00e9b".unpack1("H*"), fields("GET /fields HTTP/1.1\r\nHost: a\r\nX-A: a\u00e9b\r\n\r\n")["HTTP_X_A"]
  end

  def test_all_bytes_both_ways
    assert_equal BYTES, get("/bytes").body.b
    assert_equal BYTES, post("/echo", BYTES).body.b
  end

  def test_text
    response = get("/text")
    assert_equal ["é€😀".b, ["é€".b]], [response.body.b, response.headers["x-text"].map(&:b)]
    assert_equal "é\xFF€".b, get("/mixed").body.b
    assert_equal "é€".b, post("/echo", "é€").body.b
  end

  def test_no_type_where_the_application_tells_none
    response = get("/untyped")
    assert_equal ["untyped", nil], [response.body, response.headers["content-type"]]
  end

  def test_big_bodies_both_ways
    body = Random.bytes(BIG_BYTES)
    assert_equal body, post("/echo", body).body.b
    chunks = body.scan(/.{1,#{CHUNK_BYTES}}/mn).map { |chunk| "#{chunk.bytesize.to_s(16)}\r\n".b + chunk + "\r\n" }.join
    response = request("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".b + chunks + "0\r\n\r\n")
    assert_equal body, response.body.b
    assert_equal MUCH, get("/much").body.bytesize
  end

  def test_a_chunked_request_has_a_length
    env = fields("POST /fields HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
    assert_equal ["3", nil], env.values_at("CONTENT_LENGTH", "HTTP_TRANSFER_ENCODING")
  end

  def test_too_much_is_refused
    RawClient.open(port) do |client|
      client.write("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: #{BODY_BYTES_MAX + 1}\r\n\r\n")
      assert_equal 413, client.response.status
      assert_predicate client, :closed?
    end
    assert_equal 200, get("/").status
  end

  def test_too_much_in_chunks_is_refused
    RawClient.open(port) do |client|
      client.write("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n#{(BODY_BYTES_MAX + 1).to_s(16)}\r\n")
      write_while_possible(client, "x" * (BODY_BYTES_MAX + 1))
      assert_match(/\A(?:HTTP\/1\.1 413 .*)?\z/m, client.read_all) # the connection may be reset before the answer was read
    end
    assert_equal 200, get("/").status
  end

  def test_one_byte_after_the_other
    line = "POST /echo HTTP/1.1\r\n"
    rest = "Host: a\r\nContent-Length: 3\r\n\r\nabc"
    pieces = command == "up" ? [line, *rest.chars] : (line + rest).chars # uWebSockets.js refuses a request line in pieces
    RawClient.open(port) do |client|
      pieces.each { |piece| client.write(piece) }
      assert_equal "abc", client.response.body
    end
  end

  def test_head_and_statuses_without_content
    RawClient.open(port) do |client|
      client.write("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
      head = client.response(head: true)
      assert_equal [200, ["5"]], [head.status, head.headers["content-length"]]
      client.write("HEAD /fails-in-each HTTP/1.1\r\nHost: a\r\n\r\n")
      assert_equal 200, client.response(head: true).status
      client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      assert_equal 200, client.response.status
    end
  end

  def test_head_tells_the_length_of_a_get_or_none
    lengths = { "/" => ["5"], "/three" => ["26"], "/flushes" => nil, "/promises" => nil, "/fails-in-each" => nil, "/flushes-as?404" => nil,
                "/flushes-as?204" => nil, "/flushes-as?304" => nil }
    RawClient.open(port) do |client|
      told = lengths.keys.to_h do |path|
        client.write("HEAD #{path} HTTP/1.1\r\nHost: a\r\n\r\n")
        [path, client.response(head: true).headers["content-length"]]
      end
      assert_equal lengths, told
      client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      assert_equal "Hello", client.response.body
    end
  end

  def test_an_exception_is_500_and_the_connection_goes_on
    RawClient.open(port) do |client|
      %w[/three /numbers /fails-in-each].each do |path|
        client.write("GET #{path} HTTP/1.1\r\nHost: a\r\n\r\n")
        assert_equal [500, "500 Internal Server Error\n"], client.response.to_a.values_at(0, 2)
      end
      client.write("GET /unlike HTTP/1.1\r\nHost: a\r\n\r\n")
      assert_equal [299, "unlike"], client.response.to_a.values_at(0, 2)
    end
    server.await(/Error during GET \/fails-in-each: .*each on purpose \(RuntimeError\)/)
  end

  def test_bodies_are_closed
    before = get("/closed").body.to_i
    assert_equal [299, 500, 200], [get("/unlike").status, get("/fails-in-each").status, get("/fails-in-close").status]
    RawClient.open(port) do |client|
      client.write("HEAD /unlike HTTP/1.1\r\nHost: a\r\n\r\n")
      client.response(head: true)
    end
    assert_equal before + 4, get("/closed").body.to_i
    server.await(/Error during GET \/fails-in-close: .*close on purpose \(RuntimeError\)/)
  end

  def test_streams
    assert_equal "one two", get("/flushes").body
    assert_equal "one two 2 three", get("/promises").body
  end

  def test_a_stream_that_fails_is_cut
    %w[/fails-after-flush /breaks-promises].each do |path|
      RawClient.open(port) do |client|
        client.write(last(path))
        assert_match(FAILED, client.read_all)
      end
    end
    server.await(/promise on purpose \(RuntimeError\)/)
  end

  def test_a_stream_that_fails_is_cut_by_tls
    OpalProcess.open(command, *Certificates.options, app: APP) do |own|
      %w[/fails-after-flush /breaks-promises].each do |path|
        TLSClient.open(own.port) do |client|
          client.write(last(path))
          assert_match(FAILED, read_to_end(client))
        end
      end
      assert_equal "Hello", TLSClient.get(own.port, "/").body
      assert_predicate own.stop, :success?, own.lines.join
    end
  end

  def test_a_file
    response = get("/file")
    assert_equal [File.binread(APP), [File.size(APP).to_s], nil],
                 [response.body.b, response.headers["content-length"], response.headers["content-disposition"]]
  end

  def test_pipelined_requests_are_answered_in_order
    RawClient.open(port) do |client|
      client.write(Array.new(20) { |i| "GET /#{"closed" if i.odd?} HTTP/1.1\r\nHost: a\r\n\r\n" }.join)
      answers = Array.new(20) { client.response.body }
      assert_equal ["Hello"] * 10, answers.each_slice(2).map(&:first)
      assert_equal 1, answers.each_slice(2).map(&:last).uniq.size
    end
  end

  def test_whatever_the_application_does_in_a_pipelined_request
    answers = { "/" => [200, "Hello"], "/fails" => [500, "500 Internal Server Error\n"], "/flushes" => [200, "one two"],
                "/fails-in-each" => [500, "500 Internal Server Error\n"], "/file" => [200, File.read(APP)], "/text" => [200, "é€😀"],
                "/untyped" => [200, "untyped"], "/flushes-as?204" => [204, ""], "/bytes" => [200, BYTES] }
    later = { "/promises" => [200, "one two 2 three"], "/much" => [200, "x" * MUCH],
              "/events" => [200, command == "up_node" ? "data: one\n\n" : ":\n\ndata: one\n\n"] } # elsewhere the head leaves with a comment
    later.each do |last|
      all = [*answers, last]
      RawClient.open(port) do |client|
        client.write(pipelined(*all.map(&:first)))
        all.each { |path, expected| assert_equal expected.map { |value| value.to_s.b }, answer_on(client), path }
      end
    end
    server.await(/Error during GET \/fails: .*call on purpose \(RuntimeError\)/)
  end

  def test_who_waits_for_a_word_before_it_sends_its_content
    RawClient.open(port) do |client|
      client.write("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
      assert_equal 100, client.response.status
      client.write("hi")
      assert_equal "hi", client.response.body
    end
  end

  def test_who_sends_its_content_without_a_word_and_among_other_requests
    expectant = "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 256\r\n\r\n".b + BYTES
    RawClient.open(port) do |client|
      client.write(((pipelined("/").b + expectant) * 2) + pipelined("/"))
      answers = answers_of(client, 5)
      assert_equal ["Hello", BYTES, "Hello", BYTES, "Hello"], answers.map { |response| response.body.b }
    end
  end

  # Either it has left, and is cut, or the client is told.
  def test_a_pipelined_stream_that_fails_disturbs_nobody
    %w[/fails-after-flush /breaks-promises].each do |path|
      RawClient.open(port) do |client|
        client.write(pipelined("/") + last(path))
        assert_equal "Hello", client.response.body
        assert_match(FAILED, client.read_all)
      end
    end
  end

  def test_no_content_where_none_belongs_though_it_is_flushed
    RawClient.open(port) do |client|
      { "HEAD /flushes" => 200, "HEAD /promises" => 200, "GET /flushes-as?204" => 204, "GET /flushes-as?304" => 304,
        "HEAD /flushes-as?404" => 404 }.each do |request, status|
        client.write("#{request} HTTP/1.1\r\nHost: a\r\n\r\n")
        assert_equal status, client.response(head: true).status
      end
      client.write(pipelined("/"))
      assert_equal "Hello", client.response.body
    end
  end

  def test_a_file_that_shrinks_is_cut
    Tempfile.create do |file|
      file.write("x" * MUCH)
      file.flush
      client = RawClient.new(port, ahead: AHEAD)
      client.write(pipelined("/file-at?#{file.path}", "/"))
      client.socket.wait_readable(PATIENCE)
      file.truncate(PIECE_BYTES)
      refute_includes client.read_all, "Hello"
    ensure
      client&.close
    end
    assert_equal "Hello", get("/").body
  end

  def test_a_connection_that_is_kept_and_one_that_is_not
    RawClient.open(port) do |client|
      2.times do
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert_equal 200, client.response.status
      end
      client.write("GET /wants-close HTTP/1.1\r\nHost: a\r\n\r\n")
      assert_equal ["close"], client.response.headers["connection"]
      assert_predicate client, :closed?
    end
  end

  def test_who_asks_again_and_again_for_another_protocol
    OpalProcess.open(command, app: APP) do |own|
      RawClient.open(own.port) do |client|
        UPGRADES.times do
          client.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n")
          assert_equal 200, client.response.status
        end
      end
      own.stop
      assert_empty own.lines.grep(/Leak/)
    end
  end

  def test_bad_requests_are_refused
    ["bad\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nA : b\r\n\r\n",
     "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"].each do |text|
      RawClient.open(port) do |client|
        client.write(text)
        assert_match(/\A(?:HTTP\/1\.1 [45]\d\d .*)?\z/m, client.read_all, text)
      end
    end
    assert_equal 200, get("/").status
  end

  def test_clients_that_leave_disturb_nobody
    text = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789"
    (1..text.size).step(7) { |length| RawClient.open(port) { |client| client.write(text[0, length]) } }
    %w[/much /promises /file /flushes /flushes-much /streams-much].product([true, false]).each { |path, reset| leave(path, reset) }
    assert_equal "Hello", get("/").body
    assert_equal MUCH, get("/much").body.bytesize
  end

  def test_pieces_are_gathered_up_to_a_bound
    response = get("/pieces?#{PIECES}")
    assert_equal [200, [(PIECES * PIECE_BYTES).to_s], PIECES * PIECE_BYTES],
                 [response.status, response.headers["content-length"], response.body.bytesize]
    assert_equal "é😀\xFF".b * PIECES, get("/small_pieces?#{PIECES}").body.b
    assert_equal [500, "500 Internal Server Error\n"], get("/pieces?endless").to_a.values_at(0, 2)
    server.await(/Error during GET \/pieces: .*has more than \d+ bytes, which the server holds until the application returns; .* \(IOError\)/)
  end

  # The client sees that it is not the whole, or is told.
  def test_what_is_flushed_is_bounded
    client = RawClient.new(port, ahead: AHEAD)
    client.write(last("/flushes_endlessly"))
    server.await(/Error during GET \/flushes_endlessly: .*more than \d+ bytes of the response wait for a slow client; .* \(IOError\)/)
    assert_match(FAILED, client.read_all)
  ensure
    client&.close
  end

  def test_who_does_not_read_is_waited_for
    client = RawClient.new(port, ahead: AHEAD)
    client.write("GET /much HTTP/1.1\r\nHost: a\r\n\r\n")
    client.socket.wait_readable(PATIENCE)
    assert_equal "Hello", get("/").body
    assert_equal MUCH, client.response.body.bytesize
  ensure
    client&.close
  end

  def test_descriptors_of_files_are_closed
    3.times { get("/file") }
    before = server.descriptors
    20.times { get("/file") }
    20.times { get("/file-with-trailer") }
    Timeout.timeout(PATIENCE) { sleep 0.02 until server.descriptors <= before + 1 }
  end

  private

  # By TLS a connection may end without a word.
  def read_to_end(client)
    client.read_all
  rescue OpenSSL::SSL::SSLError
    ""
  end

  # @return [String] what asks for all of them in one packet
  def pipelined(*paths)
    paths.map { |path| "GET #{path} HTTP/1.1\r\nHost: a\r\n#{"Accept: text/event-stream\r\n" if %w[/events /stays].include?(path)}\r\n" }.join
  end

  # @return [Array<RawClient::Response>] without those that ask for more
  def answers_of(client, count)
    answers = []
    until answers.size == count
      response = client.response
      answers << response unless response.status == 100
    end
    answers
  end

  # @return [String] what asks for it on a connection that ends with it
  def last(path)
    "GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
  end

  # @return [Array<String>] status and content
  def answer_on(client)
    client.response.to_a.values_at(0, 2).map { |value| value.to_s.b }
  end

  def leave(path, reset)
    client = RawClient.new(port, ahead: AHEAD)
    client.write("GET #{path} HTTP/1.1\r\nHost: a\r\n\r\n")
    client.socket.readpartial(10)
    client.socket.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii")) if reset
    client.close
  end

  def write_while_possible(client, text)
    client.write(text)
  rescue Errno::EPIPE, Errno::ECONNRESET
    nil
  end
end

OpalProcess::RUNTIMES.each_key do |name|
  servers = {}
  Minitest.after_run { servers.each_value(&:end_all) }

  Object.const_set("OpalHTTPOn#{name.capitalize.tr("_", "")}Test", Class.new(Minitest::Test) do
    include OpalHTTPTests

    define_method(:command) { name }
    define_method(:port) { server.port }
    define_method(:server) do
      options = { app: OpalHTTPTests::APP, command: [name], environment: { "FILE" => OpalHTTPTests::APP } }
      servers[:one] ||= OpalProcess.new("--body-bytes-max", OpalHTTPTests::BODY_BYTES_MAX.to_s, **options)
    end
  end)
end
