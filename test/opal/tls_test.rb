# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"
require_relative "../support/tls_client"

# TLS on each JavaScript runtime.
class OpalTLSTest < Minitest::Test
  include OpalRuntimes

  APP = File.expand_path("support/app.ru", __dir__)
  TOLD = { # of the client's certificate, and of the connection
    "up_node" => %w[SSL_PROTOCOL SSL_CIPHER SSL_TLS_SNI SSL_CLIENT_CERT SSL_CLIENT_S_DN SSL_CLIENT_I_DN SSL_CLIENT_M_SERIAL],
    "up" => [], "up_bun" => []
  }.freeze
  ONE_OR_ALL = %w[up up_bun].freeze # who want a certificate of every client, or of none

  WITHOUT_TICKETS = %w[up_node up_bun].freeze # where clients' certificates are asked for

  def start(command, *options, &block)
    need(command)
    OpalProcess.open(command, *Certificates.options, *options, app: APP, &block)
  end

  def env(port, **settings)
    TLSClient.get(port, "/fields", **settings).body.scan(/^([A-Z_]+)=(.*)$/).to_h
  end

  OpalProcess::RUNTIMES.each_key do |command|
    define_method("test_#{command}_serves_by_tls") do
      start(command) do |server|
        assert_equal %w[on NONE 443], env(server.port).values_at("HTTPS", "SSL_CLIENT_VERIFY", "SERVER_PORT")
        body = Random.bytes(500_000)
        response = TLSClient.request(server.port, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: #{body.bytesize}\r\n\r\n".b + body)
        assert_equal body, response.body.b
        assert_equal 0, server.stop.exitstatus
      end
    end

    define_method("test_#{command}_requires_certificates_of_clients") do
      known = Certificates.authority.issue("client")
      start(command, "--ca-file", Certificates.authority.path, "--client-certificate", "required") do |server|
        told = env(server.port, certificate: known)
        assert_equal %w[on SUCCESS], told.values_at("HTTPS", "SSL_CLIENT_VERIFY")
        assert_equal [], TOLD.fetch(command) - told.keys
        [nil, Certificates.stranger.issue("client")].each { |certificate| assert_refused(server.port, certificate) }
        assert_equal 200, TLSClient.get(server.port, "/", certificate: known).status
      end
    end

    define_method("test_#{command}_names_a_file_that_cannot_be_used") do
      need(command)
      own, other = %w[localhost other.example].map { |name| Certificates.authority.issue(name) }
      wrong_files(own, other).each do |(certificate, key), sentence|
        line = OpalProcess.command(command, "-b", "127.0.0.1", "-p", "0", "-s", "-c", certificate, "-k", key, APP)
        text, status = Open3.capture2e(OpalProcess.environment, *line)
        assert_equal ["#{command}: #{sentence}\n", 1], [text.lines.last, status.exitstatus], text
      end
    end

    next unless ONE_OR_ALL.include?(command)

    define_method("test_#{command}_wants_certificates_of_all_or_none") do
      need(command)
      line = OpalProcess.command(command, "-b", "127.0.0.1", "-p", "0", *Certificates.options, "--ca-file", Certificates.authority.path, APP)
      text, status = Open3.capture2e(OpalProcess.environment, *line)
      assert_equal [true, 1], [text.include?("set --client-certificate required"), status.exitstatus], text
    end
  end

  # Nothing bounds a session's life there: it would go on with a certificate that has expired.
  WITHOUT_TICKETS.each do |command|
    define_method("test_#{command}_resumes_no_session_with_a_certificate") do
      known = Certificates.authority.issue("client")
      start(command, "--ca-file", Certificates.authority.path, "--client-certificate", "required") do |server|
        [OpenSSL::SSL::TLS1_2_VERSION, OpenSSL::SSL::TLS1_3_VERSION].each do |version|
          settings = { certificate: known, max_version: version }
          sessions = sessions_of(server.port, **settings)
          resumed = sessions.map { |session| resumed?(server.port, session, **settings) }
          refute_includes resumed, true, version.to_s(16)
        end
      end
    end
  end

  def test_up_node_does_not_wait_for_who_never_shakes_hands
    start("up_node", "--drain-timeout", "60") do |server|
      TCPSocket.open("127.0.0.1", server.port) do |silent|
        TLSClient.open(server.port) do |busy|
          busy.write("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab")
          server.signal("TERM")
          assert_ended(silent)
          busy.write("cd")
          assert_equal "abcd", busy.response.body
        end
        assert_equal 0, server.await_end.exitstatus, server.lines.last(3).join
      end
    end
  end

  def test_up_node_has_handshakes_end_in_the_time_of_a_head
    start("up_node", "--head-timeout", "0.5") { |server| TCPSocket.open("127.0.0.1", server.port) { |silent| assert_ended(silent) } }
  end

  def test_up_node_keeps_a_certificate_whose_successor_cannot_be_used
    need("up_node")
    own, other = %w[localhost other.example].map { |name| Certificates.authority.issue(name) }
    Dir.mktmpdir do |folder|
      certificate = File.join(folder, "certificate.pem")
      FileUtils.cp(own.path, certificate)
      OpalProcess.open("up_node", "-s", "-c", certificate, "-k", own.key_path, app: APP) do |server|
        FileUtils.cp(other.path, certificate)
        server.signal("HUP")
        server.await(/the server keeps the old certificates, because the new ones cannot be used: /)
        assert_equal 200, TLSClient.get(server.port, "/").status
        assert_equal 0, server.stop.exitstatus
      end
    end
  end

  def test_up_node_takes_clients_without_a_certificate
    start("up_node", "--ca-file", Certificates.authority.path) do |server|
      assert_equal "NONE", env(server.port)["SSL_CLIENT_VERIFY"]
      assert_equal 200, TLSClient.get(server.port, "/", certificate: Certificates.authority.issue("client")).status
      assert_refused(server.port, Certificates.stranger.issue("client"))
    end
  end

  def test_up_node_reads_its_certificate_again
    issued = Certificates.authority.issue("localhost", "127.0.0.1")
    need("up_node")
    OpalProcess.open("up_node", *Certificates.options(issued), app: APP) do |server|
      renewed = Certificates.authority.issue("localhost", "127.0.0.1")
      FileUtils.cp(renewed.path, issued.path)
      FileUtils.cp(renewed.key_path, issued.key_path)
      server.signal("HUP")
      Timeout.timeout(60) { sleep 0.02 until serial(server.port) == renewed.certificate.serial }
    end
  end

  private

  # @return [Hash{Array(String, String) => String}] certificate and key, and the message
  def wrong_files(own, other)
    {
      [own.path, other.key_path] => "the key in #{other.key_path} does not match the certificate in #{own.path}; " \
                                    "name another certificate and its key, with --cert-file and --key-file",
      [own.key_path, own.key_path] => "#{own.key_path} holds no certificate in PEM form; " \
                                      "name a valid PEM file with --cert-file, --key-file or --ca-file",
      [own.path, own.path] => "#{own.path} holds no unencrypted private key in PEM form; " \
                              "name a valid PEM file with --cert-file, --key-file or --ca-file",
      ["/nowhere", own.key_path] => "/nowhere cannot be read: No such file or directory; " \
                                    "name another with --cert-file, --key-file or --ca-file"
    }
  end

  # @return [Array<OpenSSL::SSL::Session>] all that a client may come back with
  def sessions_of(port, **settings)
    sessions = []
    client = TLSClient.new(port, **settings) { |session| sessions << session }
    client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert_equal 200, client.response.status
    sessions | [client.socket.session].compact
  ensure
    client&.close
  end

  def resumed?(port, session, **settings)
    TLSClient.open(port, session: session, **settings) do |client|
      client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      client.response.status == 200 && client.socket.session_reused?
    end
  rescue OpenSSL::SSL::SSLError, SystemCallError
    false
  end

  def serial(port)
    TLSClient.open(port) { |client| client.socket.peer_cert.serial }
  end

  def assert_ended(socket)
    assert_equal "", Timeout.timeout(60) { socket.read }
  rescue Errno::ECONNRESET
    nil
  end

  def assert_refused(port, certificate)
    TLSClient.open(port, certificate: certificate) do |client|
      client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      refute_match(/ 200 /, client.read_all)
    end
  rescue OpenSSL::SSL::SSLError, SystemCallError
    nil
  end
end
