# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/tls_client"

# A session is resumed only while the server would still accept the certificate that its first handshake verified.
class TLSSessionTest < Minitest::Test
  VERSIONS = { "TLS 1.2" => OpenSSL::SSL::TLS1_2_VERSION, "TLS 1.3" => OpenSSL::SSL::TLS1_3_VERSION }.freeze
  SECONDS_TRIED = [4, 12, 30].freeze # a certificate may expire on a loaded machine before its session was resumed
  PATIENCE = 60 # seconds
  REFUSALS = [OpenSSL::SSL::SSLError, Errno::ECONNRESET, Errno::EPIPE].freeze

  Visit = Struct.new(:session, :resumed, :verified)

  def setup
    @folder = Dir.mktmpdir
    @trusted = File.join(@folder, "trusted.pem")
    FileUtils.cp(Certificates.authority.path, @trusted)
  end

  def teardown
    FileUtils.rm_rf(@folder)
  end

  def open_server(*options, word: "required", &block)
    ServerProcess.open(*Certificates.options, "--ca-file", @trusted, "--client-certificate", word, *options, &block)
  end

  # @return [Visit, nil] nil when the server refused the client
  def visit(server, certificate, version, session = nil, **settings)
    tickets = []
    settings = { certificate: certificate, session: session, max_version: version, **settings }
    client = TLSClient.new(server.port, **settings) { |ticket| tickets << ticket }
    client.write("GET /env HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    response = client.response or return
    Visit.new(tickets.last || client.socket.session, client.socket.session_reused?, JSON.parse(response.body)["SSL_CLIENT_VERIFY"])
  rescue *REFUSALS
    nil
  ensure
    client&.close
  end

  def short_lived(seconds)
    middle = Certificates::Authority.new("intermediate", signer: Certificates.authority, until_seconds: seconds)
    { "certificate" => Certificates.authority.issue("short.example", until_seconds: seconds), "intermediate" => middle.issue("long.example") }
  end

  # @return [Array, nil] whose session, and the session; nil when a certificate expired first
  def resumed_once(server, seconds)
    expiry = Time.now + seconds
    sessions = short_lived(seconds).to_a.product(VERSIONS.to_a).map do |(name, certificate), (version, number)|
      first = visit(server, certificate, number) or break
      second = visit(server, certificate, number, first.session)
      break unless second&.resumed

      ["#{name}, #{version}", certificate, number, second.session]
    end
    return unless sessions

    sleep(0.05) until Time.now > expiry + 2 # a second is lost by the certificate's own clock
    sessions
  end

  def test_a_session_ends_with_the_certificate_and_with_those_that_signed_it
    open_server do |server|
      sessions = SECONDS_TRIED.lazy.filter_map { |seconds| resumed_once(server, seconds) }.first
      refute_nil sessions, "no session was resumed before its certificate expired"
      sessions.each do |name, certificate, version, session|
        assert_nil visit(server, certificate, version, session), "#{name}: the session went on"
      end
    end
  end

  # OpenSSL would keep such sessions in the memory of one process.
  def test_a_session_is_not_resumed_by_its_number
    open_server(word: "optional") do |server|
      settings = { options: OpenSSL::SSL::OP_NO_TICKET | OpenSSL::SSL::OP_ALL }
      first = visit(server, nil, OpenSSL::SSL::TLS1_2_VERSION, **settings)
      refute visit(server, nil, OpenSSL::SSL::TLS1_2_VERSION, first.session, **settings).resumed
    end
  end

  # Whom the new authorities do not vouch for comes back neither with a ticket nor without one; the others are verified again.
  def test_a_session_ends_when_the_authorities_change
    other = Certificates::Authority.new("another")
    stays, goes = [other, Certificates.authority].map { |authority| authority.issue("client.example") }
    [%w[-w 0], %w[-w 2]].each do |workers|
      File.write(@trusted, [Certificates.authority, other].map { |authority| File.read(authority.path) }.join)
      open_server(*workers) do |server|
        sessions = VERSIONS.transform_values { |version| [stays, goes].map { |client| visit(server, client, version).session } }
        trust_only(other, server, goes)
        VERSIONS.each { |name, version| check_change(server, name, version, sessions[name], [stays, goes]) }
      end
    end
  end

  def trust_only(authority, server, refused)
    File.write(@trusted, File.read(authority.path))
    server.signal("HUP")
    Timeout.timeout(PATIENCE) { sleep 0.01 until Array.new(10) { visit(server, refused, OpenSSL::SSL::TLS1_2_VERSION) }.none? }
  end

  def check_change(server, name, version, sessions, (stays, goes))
    kept = visit(server, stays, version, sessions.first)
    assert_equal [false, "SUCCESS"], [kept&.resumed, kept&.verified], name
    assert_nil visit(server, goes, version, sessions.last), "#{name}: the session went on"
  end
end
