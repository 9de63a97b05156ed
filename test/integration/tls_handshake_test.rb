# frozen_string_literal: true

require "etc"
require_relative "../test_helper"
require_relative "../support/elapsed_time"
require_relative "../support/tls_client"

# What client and server agree upon, who is let in, and what becomes of handshakes that go wrong.
class TLSHandshakeTest < Minitest::Test
  include ElapsedTime

  PATIENCE = 60 # seconds
  HEAD_TIMEOUT = 10
  ALERT = "\x15\x03\x03\x00\x1a".b.freeze # a record of TLS 1.2 with 26 bytes
  GOODBYE = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

  def open_server(*options, certificates: Certificates.options, **settings, &block)
    ServerProcess.open(*certificates, *options, **settings, &block)
  end

  def each_backend(*options, **settings)
    BACKENDS.each { |backend| open_server("--backend", backend, *options, **settings) { |server| yield server } }
  end

  def await
    Timeout.timeout(PATIENCE) { sleep 0.01 until yield }
  end

  def configured(text)
    Dir.mktmpdir do |folder|
      path = File.join(folder, "upwell.rb")
      File.write(path, text)
      yield ["-C", path]
    end
  end

  def test_versions_and_alpn
    open_server do |server|
      { TLS1_2: "TLSv1.2", TLS1_3: "TLSv1.3" }.each do |version, name|
        TLSClient.open(server.port, max_version: OpenSSL::SSL.const_get("#{version}_VERSION"), alpn_protocols: %w[h2 http/1.1]) do |client|
          assert_equal [name, "http/1.1"], [client.socket.ssl_version, client.socket.alpn_protocol]
        end
      end
      assert_raises(OpenSSL::SSL::SSLError) { TLSClient.open(server.port, min_version: nil, max_version: OpenSSL::SSL::TLS1_1_VERSION) { nil } }
      assert_equal "Hello World", TLSClient.get(server.port, "/").body
    end
  end

  def test_several_certificates_by_name
    first = Certificates.localhost
    shop = Certificates.authority.issue("shop.example", "www.shop.example", rsa: true)
    any = Certificates.authority.issue("*.shops.example")
    text = ["secure", *[first, shop].map { |issued| "certificate '#{issued.path}', key: '#{issued.key_path}'" }, "certificate '#{any.bundle}'"]
    configured(text.join("\n")) do |options|
      open_server(*options, certificates: []) do |server|
        { "localhost" => first, "shop.example" => shop, "WWW.shop.example" => shop, "other.shops.example" => any }.each do |name, issued|
          TLSClient.open(server.port, name: name) { |client| assert_equal issued.certificate.to_der, client.socket.peer_cert.to_der, name }
        end
        [nil, "nobody.test"].each do |name|
          TLSClient.open(server.port, name: nil) do |client|
            assert_equal first.certificate.to_der, client.socket.peer_cert.to_der, name
          end
        end
        assert_equal "shop.example", TLSClient.env(server.port, name: "shop.example")["SSL_TLS_SNI"]
        refute TLSClient.env(server.port, name: nil).key?("SSL_TLS_SNI")
      end
    end
  end

  def test_an_ocsp_response_is_stapled
    issued = Certificates.localhost
    response = Certificates.authority.vouch_for(issued)
    configured("secure\ncertificate '#{issued.path}', key: '#{issued.key_path}', ocsp: '#{response}'") do |options|
      open_server(*options, certificates: []) do |server|
        output, = Open3.capture2e("openssl", "s_client", "-connect", "127.0.0.1:#{server.port}", "-status", "-CAfile",
                                  Certificates.authority.path, stdin_data: "")
        assert_match(/OCSP Response Status: successful/, output)
        assert_match(/Cert Status: good/, output)
      end
    end
  end

  def client_certificates
    {
      good: Certificates.authority.issue("client.example"), strange: Certificates.stranger.issue("client.example"),
      expired: Certificates.authority.issue("expired.example", until_seconds: -60)
    }
  end

  # TLS 1.3 tells a client only after its handshake that the server did not want it.
  def let_in?(server, certificate)
    TLSClient.env(server.port, certificate: certificate)
  rescue OpenSSL::SSL::SSLError, Errno::ECONNRESET, Errno::EPIPE, NoMethodError
    nil
  end

  def test_certificates_of_clients
    good, strange, expired = client_certificates.values
    %w[optional required].each do |word|
      open_server("--ca-file", Certificates.authority.path, "--client-certificate", word) do |server|
        env = let_in?(server, good)
        assert_equal "SUCCESS", env["SSL_CLIENT_VERIFY"]
        assert_equal "CN=client.example,O=Tests", env["SSL_CLIENT_S_DN"]
        assert_equal "CN=authority of trusted,O=Tests", env["SSL_CLIENT_I_DN"]
        assert_equal good.certificate.serial, OpenSSL::BN.new(env["SSL_CLIENT_M_SERIAL"], 16)
        assert_equal good.certificate.to_der, OpenSSL::X509::Certificate.new(env["SSL_CLIENT_CERT"]).to_der
        assert_nil let_in?(server, strange)
        assert_nil let_in?(server, expired)
        none = let_in?(server, nil)
        word == "required" ? assert_nil(none) : assert_equal(["NONE", nil], none.values_at("SSL_CLIENT_VERIFY", "SSL_CLIENT_CERT"))
      end
    end
  end

  # A ticket of one address is none of another, which asks for more.
  def test_a_ticket_does_not_stand_for_a_certificate
    issued = Certificates.localhost
    query = "cert=#{issued.path}&key=#{issued.key_path}"
    strict = "ssl://127.0.0.1:0?#{query}&ca=#{Certificates.authority.path}&verify_mode=force_peer"
    open_server("-b", strict) do |server|
      open_port, strict_port = server.lines.last.scan(%r{https://127\.0\.0\.1:(\d+)}).flatten.map(&:to_i)
      sessions = []
      TLSClient.open(open_port) { |client| client.write(GOODBYE) } # the first may come before the tickets
      client = TLSClient.new(open_port) { |session| sessions << session }
      client.write(GOODBYE)
      client.read_all
      assert_predicate sessions, :any?
      assert_nil(begin
        TLSClient.open(strict_port, session: sessions.last) { |other| other.write(GOODBYE) && other.response }
      rescue OpenSSL::SSL::SSLError, Errno::ECONNRESET, Errno::EPIPE
        nil
      end)
    ensure
      client&.close
    end
  end

  def test_plain_http_is_told_so
    each_backend do |server|
      ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST / HTTP/1.0\r\n\r\n"].each do |request|
        response = RawClient.request(server.port, request)
        assert_equal 400, response.status
        assert_match(/HTTPS/, response.body)
      end
      assert_equal "Hello World", TLSClient.get(server.port, "/").body
    end
  end

  # What a client says first, by itself.
  def client_hello
    ours, theirs = Socket.pair(:UNIX, :STREAM)
    socket = OpenSSL::SSL::SSLSocket.new(theirs)
    socket.hostname = "localhost"
    socket.connect_nonblock(exception: false)
    ours.readpartial(65_536)
  ensure
    [ours, theirs].each { |io| io&.close }
  end

  def test_what_goes_wrong_leaves_nothing_behind
    hello = client_hello
    broken = [*(1...hello.bytesize).map { |length| hello[0, length] }, "\x16\x03\x01\xff\xff".b, "\x00" * 5, "\x80\x2e\x01\x03\x01".b,
              Random.new(3).bytes(100), hello + Random.new(4).bytes(100), "\x15\x03\x01\x00\x02\x02\x28".b]
    each_backend do |server|
      TLSClient.get(server.port, "/")
      await { server.descriptors == (@before = server.descriptors) }
      broken.each_slice(64) { |slice| slice.map { |bytes| half_closed(server.port, bytes) }.each { |client| end_of(client) } }
      broken.each { |bytes| TCPSocket.open("127.0.0.1", server.port) { |client| client.write(bytes) } }
      assert_equal "Hello World", TLSClient.get(server.port, "/").body
      await { server.descriptors <= @before }
    end
  end

  def half_closed(port, bytes)
    TCPSocket.new("127.0.0.1", port).tap do |client|
      client.write(bytes)
      client.close_write
    rescue SystemCallError
      client # which the server has closed already
    end
  end

  def end_of(client)
    Timeout.timeout(PATIENCE) { client.read }
  rescue Errno::ECONNRESET
    nil
  ensure
    client.close
  end

  DEAD_CLIENTS = 2_000 # fewer than net.core.somaxconn
  FLOOD_CPU_SECONDS = 0.6 # a handshake with RSA takes at least half a millisecond
  FLOOD_BYTES = 30_000_000
  FLOOD_KEPT_BYTES = 10_000_000 # a second after the flood, by a server that still has clients

  def cpu_seconds(server)
    File.read("/proc/#{server.pid}/stat")[/\) (.*)/, 1].split.values_at(11, 12).sum(&:to_i).fdiv(Etc.sysconf(Etc::SC_CLK_TCK))
  end

  def resident_bytes(server)
    File.read("/proc/#{server.pid}/statm").split[1].to_i * Etc.sysconf(Etc::SC_PAGESIZE)
  end

  # While the server is stopped its clients wait in the backlog: most of them leave there, and four stay.
  #
  # @return [Array<String>] what those were answered
  def flood(server)
    hello = client_hello
    Process.kill("STOP", server.pid)
    honest = Array.new(4) do
      (DEAD_CLIENTS / 4).times { TCPSocket.open("127.0.0.1", server.port) { |client| client.write(hello) } }
      Thread.new { TLSClient.get(server.port, "/").body }
    end
    Process.kill("CONT", server.pid)
    Timeout.timeout(PATIENCE) { honest.map(&:value) }
  end

  def test_clients_that_left_cost_no_handshake
    issued = Certificates.authority.issue("localhost", rsa: true)
    BACKENDS.each do |backend|
      open_server("-w", "0", "--backend", backend, certificates: Certificates.options(issued)) do |server|
        TLSClient.get(server.port, "/")
        cpu = cpu_seconds(server)
        memory = resident_bytes(server)
        assert_equal ["Hello World"] * 4, flood(server), backend
        assert_operator cpu_seconds(server) - cpu, :<, FLOOD_CPU_SECONDS, backend
        assert_operator resident_bytes(server) - memory, :<, FLOOD_BYTES, backend
      end
    end
  end

  ROUNDS = 2
  HONEST_SECONDS_MAX = 5 # 0.1 s on a quiet machine

  # In a process of its own: each client says its first word and leaves, at once or when all of them have come.
  def flooding(server, at_once:)
    hello = client_hello
    pid = fork do
      ROUNDS.times do
        clients = Array.new(DEAD_CLIENTS) do
          TCPSocket.new("127.0.0.1", server.port).tap { |client| client.write(hello) && at_once && client.close }
        end
        clients.each(&:close)
      end
    ensure
      exit! # of the tests nothing else
    end
    waiter = Process.detach(pid)
    yield -> { !waiter.alive? }
  ensure
    waiter&.join
  end

  # @return [Float] how long the slowest request took: four clients ask by new connections, one by a kept one
  def slowest(server, over)
    kept = TLSClient.new(server.port)
    ask = -> { assert_equal "Hello World", TLSClient.get(server.port, "/").body }
    ask_again = -> { kept.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n") && assert_equal("Hello World", kept.response.body) }
    threads = [ask, ask, ask, ask, ask_again].map do |request|
      Thread.new do
        times = [seconds(&request)]
        times << seconds(&request) until over.call
        times.max
      end
    end
    Timeout.timeout(PATIENCE) { threads.map(&:value).max }
  ensure
    kept&.close
  end

  def test_honest_clients_are_served_during_a_flood
    issued = Certificates.authority.issue("localhost", rsa: true)
    BACKENDS.product([true, false]) do |backend, at_once|
      open_server("-w", "0", "--backend", backend, certificates: Certificates.options(issued)) do |server|
        TLSClient.get(server.port, "/")
        kept = TLSClient.new(server.port)
        memory = resident_bytes(server)
        flooding(server, at_once: at_once) { |over| assert_operator slowest(server, over), :<, HONEST_SECONDS_MAX, backend }
        await { resident_bytes(server) - memory < FLOOD_KEPT_BYTES }
      ensure
        kept&.close
      end
    end
  end

  # They have --head-timeout for it, and nobody waits for them.
  def test_slow_handshakes_hold_nobody_up
    hello = client_hello
    each_backend("--head-timeout", HEAD_TIMEOUT.to_s) do |server|
      TLSClient.get(server.port, "/")
      before = server.descriptors
      slow = Array.new(20) { TCPSocket.new("127.0.0.1", server.port) }
      writer = Thread.new { hello.each_char { |byte| slow.each { |client| client.write(byte) } && sleep(0.2) } }
      writer.report_on_exception = false # of EPIPE: it is cut off
      begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      5.times { assert_equal "Hello World", TLSClient.get(server.port, "/").body }
      assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun, :<, HEAD_TIMEOUT
      slow.each { |client| assert_empty end_of(client).to_s }
      await { server.descriptors <= before }
    ensure
      writer&.kill
      slow&.each(&:close)
    end
  end

  def test_ends_of_all_kinds
    each_backend do |server|
      TLSClient.get(server.port, "/")
      await { server.descriptors == (@before = server.descriptors) }
      end_halfway(server)
      end_without_goodbye(server)
      assert_equal "Hello World", TLSClient.get(server.port, "/").body
      await { server.descriptors <= @before }
    end
  end

  # One of TLS 1.2, whose alerts tell in the clear what they are.
  #
  # @return [TLSClient] that has been answered
  def answered(server)
    TLSClient.new(server.port, max_version: OpenSSL::SSL::TLS1_2_VERSION).tap do |client|
      client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      assert_equal "Hello World", client.response.body
    end
  end

  # Without it nobody can tell the end from a cut (RFC 8446, section 6.1).
  def test_close_notify_comes_before_the_end
    ways = { "silence" => ->(_, _) {}, "half an end" => ->(client, _) { client.tcp.close_write },
             "close_notify" => ->(client, _) { client.socket.send(:stop) }, "a stop" => ->(_, server) { server.signal("TERM") } }
    each_backend("--keep-alive-timeout", "1") do |server|
      ways.each do |name, leave|
        client = answered(server)
        leave.call(client, server)
        assert_match(/\A#{ALERT}.{26}\z/mn, Timeout.timeout(PATIENCE) { client.tcp.read }, name)
      ensure
        client&.close
      end
    end
  end

  # The client has said all it has to say, and still listens.
  def end_halfway(server)
    TLSClient.open(server.port) do |client|
      client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      client.tcp.close_write
      assert_equal "Hello World", client.response.body
    end
  end

  def end_without_goodbye(server)
    TLSClient.new(server.port).tcp.close
    TLSClient.new(server.port).tap { |client| client.write("GET /sleep-a-while HTTP/1.1\r\nHost: a\r\n\r\n") }.tcp.close
    TLSClient.new(server.port).tap { |client| client.write("GET /big HTTP/1.1\r\nHost: a\r\n\r\n") }.tcp.close
    client = TLSClient.new(server.port)
    client.tcp.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii"))
    client.tcp.close
  end
end
