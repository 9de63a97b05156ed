# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/tls_client"

# What is served in the clear is served by TLS, on every backend and in every mode (BackendModePairs).
class TLSTest < Minitest::Test
  LARGE_BYTES = 3_000_000
  BIG_BYTES = 20_000_000 # of /big

  def each_server(*options, **settings)
    each_backend_and_mode do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode, *Certificates.options, *options, **settings) do |server|
        assert_match(%r{serves on https://127\.0\.0\.1:#{server.port} \(#{backend}, #{mode}\)}, server.lines.last)
        yield server
      end
    end
  end

  def test_requests_and_responses
    each_server do |server|
      TLSClient.open(server.port) do |client|
        check_kept(client)
        check_pipelined(client)
        check_bodies(client)
        check_streams(client)
        check_file(client)
      end
      assert_predicate server.stop, :success?
    end
  end

  def test_hijacks
    MODES.each do |mode|
      ServerProcess.open("--mode", mode, *Certificates.options) { |server| check_hijack(server) }
    end
  end

  def check_kept(client)
    3.times do
      client.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n")
      assert_equal "Hello World", client.response.body
    end
    client.write("HEAD / HTTP/1.1\r\nHost: test\r\n\r\n")
    assert_equal ["11"], client.response(head: true).headers["content-length"]
  end

  def check_pipelined(client)
    client.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n" * 20)
    20.times { assert_equal "Hello World", client.response.body }
  end

  def check_bodies(client)
    body = Random.new(1).bytes(LARGE_BYTES)
    client.write("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}")
    assert_equal body, client.response.body
    client.write("POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n")
    body.scan(/.{1,100000}/mn) { |piece| client.write("#{piece.bytesize.to_s(16)}\r\n#{piece}\r\n") }
    client.write("0\r\n\r\n")
    assert_equal body, client.response.body
    client.write("GET /big HTTP/1.1\r\nHost: test\r\n\r\n")
    assert_equal BIG_BYTES, client.response.body.bytesize
  end

  def check_streams(client)
    { "/each-piece" => "onetwothree", "/stream" => "abc", "/no-content" => "" }.each do |path, body|
      client.write("GET #{path} HTTP/1.1\r\nHost: test\r\n\r\n")
      assert_equal body, client.response.body
    end
  end

  def check_file(client)
    client.write("GET /file HTTP/1.1\r\nHost: test\r\n\r\n")
    assert_equal File.binread(File.join(ServerProcess::APPS, "app.ru")), client.response.body
  end

  def check_hijack(server)
    TLSClient.open(server.port) do |client|
      client.write("GET /hijack HTTP/1.1\r\nHost: test\r\n\r\nand more")
      assert client.read_all.end_with?("\r\n\r\nhijacked and more")
    end
    assert_equal "partial", TLSClient.open(server.port) { |client|
      client.write("GET /partial-hijack HTTP/1.1\r\nHost: test\r\n\r\n")
      client.read_all.split("\r\n\r\n", 2).last
    }
  end

  def test_files_are_sent_by_the_core
    Dir.mktmpdir do |root|
      content = Random.new(2).bytes(LARGE_BYTES)
      File.binwrite(File.join(root, "large"), content)
      File.write(File.join(root, "small"), "0123456789")
      BACKENDS.each do |backend|
        static = ["--backend", backend, *Certificates.options]
        ServerProcess.open(*static, app: root, command: ["static"]) { |server| check_files(server, content) }
        ServerProcess.open(*static, "--public", root, "--mode", "threads:2") { |server| check_files(server, content) }
      end
    end
  end

  def check_files(server, content)
    TLSClient.open(server.port) do |client|
      { "large" => content, "small" => "0123456789" }.each do |name, expected|
        client.write("GET /#{name} HTTP/1.1\r\nHost: test\r\n\r\n")
        assert_equal expected, client.response.body
        client.write("GET /#{name} HTTP/1.1\r\nHost: test\r\nRange: bytes=3-7\r\n\r\n")
        assert_equal [206, expected[3..7]], client.response.to_a.values_at(0, 2)
      end
    end
    assert_predicate server.stop, :success?
  end

  # Names of the application's env that nobody but the server sets.
  def test_env
    headers = %w[HTTPS Ssl-Client-Verify SSL_CLIENT_S_DN SSL-PROTOCOL rack.url_scheme].map { |name| "#{name}: forged\r\n" }.join
    ServerProcess.open(*Certificates.options) do |server|
      env = JSON.parse(TLSClient.request(server.port, "GET /env HTTP/1.1\r\nHost: example.org\r\n#{headers}\r\n").body)
      cipher = env.delete("SSL_CIPHER")
      assert_match(/\ATLS_/, cipher)
      assert_equal({ "rack.url_scheme" => "https", "HTTPS" => "on", "SERVER_PORT" => "443", "SERVER_NAME" => "example.org",
                     "SSL_PROTOCOL" => "TLSv1.3", "SSL_TLS_SNI" => "localhost", "SSL_CLIENT_VERIFY" => "NONE" },
                   env.slice("rack.url_scheme", "HTTPS", "SERVER_PORT", "SERVER_NAME", *env.keys.grep(/\ASSL_/)))
      assert_equal "forged", env["HTTP_HTTPS"]
    end
  end

  def test_the_port_is_the_one_that_the_client_names
    ServerProcess.open(*Certificates.options) do |server|
      { "Host: a\r\n" => "443", "Host: a:80\r\n" => "80", "Host: a:8443\r\n" => "8443" }.each do |header, port|
        assert_equal port, JSON.parse(TLSClient.request(server.port, "GET /env HTTP/1.1\r\n#{header}\r\n").body)["SERVER_PORT"]
      end
      env = JSON.parse(TLSClient.request(server.port, "GET /env HTTP/1.0\r\nX-Forwarded-Proto: http\r\n\r\n").body)
      assert_equal [server.port.to_s, "http", "https"], env.values_at("SERVER_PORT", "HTTP_X_FORWARDED_PROTO", "rack.url_scheme")
    end
  end

  def test_plain_and_secure_addresses_side_by_side
    Dir.mktmpdir do |folder|
      issued = Certificates.localhost
      path = File.join(folder, "socket")
      ssl = "ssl://127.0.0.1:0?cert=#{issued.path}&key=#{issued.key_path}"
      ServerProcess.open("-b", ssl, "-b", "unix:#{path}") do |server|
        plain, secure = server.lines.last.match(%r{http://127\.0\.0\.1:(\d+), https://127\.0\.0\.1:(\d+), unix:}).captures.map(&:to_i)
        assert_equal "http", JSON.parse(RawClient.get(plain, "/env").body)["rack.url_scheme"]
        assert_equal "https", TLSClient.env(secure)["rack.url_scheme"]
        assert_equal "80", JSON.parse(RawClient.get(plain, "/env").body)["SERVER_PORT"]
        refute JSON.parse(RawClient.get(plain, "/env").body).key?("HTTPS")
        UNIXSocket.open(path) { |client| assert client.tap { |c| c.write("GET / HTTP/1.0\r\n\r\n") }.read.end_with?("Hello World") }
      end
    end
  end

  def test_objects_move_and_are_collected_meanwhile
    MODES.each do |mode|
      ServerProcess.open("--mode", mode, *Certificates.options) do |server|
        %w[/compact /stress-on / /stress-off /compact /].each do |path|
          assert_equal "Hello World", TLSClient.get(server.port, path).body
        end
        assert_equal "on", TLSClient.env(server.port)["HTTPS"]
      end
    end
  end

  def test_curl
    curl = ["curl", "--silent", "--show-error", "--max-time", "20", "--cacert", Certificates.authority.path]
    ServerProcess.open(*Certificates.options) do |server|
      %w[--tlsv1.3 --tls-max=1.2].each do |version|
        output, status = Open3.capture2e(*curl, *version.split("="), "--http1.1", "https://localhost:#{server.port}/env", "-H", "Expect:")
        assert_predicate status, :success?, output
        assert_equal version == "--tlsv1.3" ? "TLSv1.3" : "TLSv1.2", JSON.parse(output)["SSL_PROTOCOL"]
      end
    end
  end
end
