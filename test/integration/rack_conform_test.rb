# frozen_string_literal: true

require_relative "../test_helper"

# What every server of Rack is expected to do with a request and a response, told as socketry's rack-conform tells it, in our own words.
module RackConformTests
  def ask(path, verb: "GET", content: "", headers: {})
    lines = { "Host" => "localhost:#{port}", **headers }.map { |name, value| "#{name}: #{value}\r\n" }.join
    length = content.empty? ? "" : "Content-Length: #{content.bytesize}\r\n"
    RawClient.request(port, "#{verb} #{path} HTTP/1.1\r\n#{lines}#{length}\r\n#{content}")
  end

  def env_of(path, **more)
    JSON.parse(ask(path, **more).body)
  end

  def test_an_answer
    response = ask("/")
    assert_equal [200, "Hello World"], [response.status, response.body]
  end

  def test_the_status_is_the_application_s
    [*200..204, 206, *301..304, 307, 308, 400, 401, *403..405, 409, 410, 418, 422, 429, *500..503].each do |status|
      assert_equal status, ask("/status?#{status}").status
    end
  end

  def test_content_comes_back_whatever_its_length
    [10, 100, 10_000, 200_000].each do |length|
      content = "abcdefghij".ljust(length, "klmno")
      %w[/echo /echo-each /input-as-body].each { |path| assert_equal content, ask(path, verb: "POST", content: content).body, path }
    end
  end

  def test_chunks_come_back_as_content
    text = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n6\r\n World\r\n0\r\n\r\n"
    assert_equal "Hello World", RawClient.request(port, text).body
  end

  def test_methods_are_the_application_s
    %w[GET POST PUT PATCH DELETE].each { |verb| assert_equal verb, env_of("/env", verb: verb)["REQUEST_METHOD"] }
  end

  def test_the_target_in_its_parts
    env = env_of("/env?key=value&other=%20", headers: { "Host" => "example.org:8080" })
    assert_equal ["/env", "key=value&other=%20", ""], env.values_at("PATH_INFO", "QUERY_STRING", "SCRIPT_NAME")
    assert_equal ["example.org", "8080"], env.values_at("SERVER_NAME", "SERVER_PORT")
    assert_equal ["example.org:8080", "HTTP/1.1"], env.values_at("HTTP_HOST", "SERVER_PROTOCOL")
  end

  def test_header_fields_of_a_request
    env = env_of("/env", headers: { "X-Custom-Field" => "a", "Accept" => "text/plain", "Content-Type" => "text/x" })
    assert_equal %w[a text/plain text/x], env.values_at("HTTP_X_CUSTOM_FIELD", "HTTP_ACCEPT", "CONTENT_TYPE")
    refute_includes env, "HTTP_CONTENT_TYPE"
  end

  def test_header_fields_of_a_response
    response = ask("/headers", verb: "POST", content: JSON.generate("content-type" => "text/plain", "x-custom" => "a"))
    assert_equal [["text/plain"], ["a"]], response.headers.values_at("content-type", "x-custom")
  end

  def test_several_values_of_a_header_field
    values = RACK_2 ? "a\nb" : %w[a b]
    assert_equal %w[a b], ask("/headers", verb: "POST", content: JSON.generate("x-custom" => values)).headers["x-custom"]
  end

  def test_cookies_come_one_a_line
    assert_equal ["a=1"], ask("/cookies", verb: "POST", content: '{"a": 1}').headers["set-cookie"]
    assert_equal ["a=1", "b=2"], ask("/cookies", verb: "POST", content: '{"a": 1, "b": 2}').headers["set-cookie"]
  end

  def test_a_middleware_that_is_its_own_body
    assert_equal "HelloWorld", ask("/middleware").body
  end

  def test_a_body_that_is_enumerated
    assert_equal (0..9).map { |index| "Hello World #{index}\n" }.join, ask("/enumerator").body
  end

  def test_a_body_that_is_called
    assert_equal "Hello World", ask("/body").body
  end

  def test_a_partial_hijack
    assert_equal "Hello World", ask("/hijack").body
  end

  def test_options_of_the_server_and_of_a_path
    assert_equal "OPTIONS *", ask("*", verb: "OPTIONS").body
    assert_equal "OPTIONS /env", ask("/env", verb: "OPTIONS").body
  end

  # As a WebSocket is: both ways, until either side closes.
  def test_an_upgraded_connection_belongs_to_both
    %w[/upgrade-by-body /upgrade-by-hijack].each do |path|
      RawClient.open(port) do |client|
        client.write("GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
        head = +""
        head << client.socket.gets("\r\n") until head.end_with?("\r\n\r\n")
        assert_match(/\AHTTP\/1\.1 101 .*^upgrade: echo\r$/m, head)
        %W[one\n two\n].each do |line|
          client.write(line)
          assert_equal line, Timeout.timeout(RawClient::READ_MAX) { client.socket.gets }, path
        end
        client.socket.close_write
        assert_predicate client, :closed?
      end
    end
  end
end

MODES.each do |mode_name|
  Object.const_set("RackConform#{mode_name.capitalize.delete(":")}Test", Class.new(Minitest::Test) do
    include RackConformTests

    servers = {}
    Minitest.after_run { servers.each_value(&:kill) }
    define_method(:port) { (servers[:one] ||= ServerProcess.new("--mode", mode_name, app: "rack_conform.ru")).port }
  end)
end
