# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/certificates"

# What was configured, and the files that it names: what is wrong is told in one sentence, which names the file and the remedy.
class TLSCredentialsTest < Minitest::Test
  HELLO = File.expand_path("../../../examples/hello/config.ru", __dir__)

  def setup
    @folder = Dir.mktmpdir
  end

  def teardown
    FileUtils.rm_rf(@folder)
  end

  def file(name, content)
    File.join(@folder, name).tap { |path| File.binwrite(path, content) }
  end

  def good
    Certificates.localhost
  end

  def read(**settings)
    configuration = Upwell::Configuration.new(settings, environment: {})
    Upwell::Server::Listening::Listeners.new(configuration).read_credentials
  end

  def sentence(**settings)
    message = assert_raises(Upwell::ConfigurationError) { read(**settings) }.message
    assert_equal 1, message.lines.size, message
    refute_match(/error:[0-9A-F]{8}|rb_/, message)
    message
  end

  def bad_files
    other = Certificates.stranger.issue("localhost")
    expired = Certificates.authority.issue("localhost", until_seconds: -60)
    locked = file("locked.key", good.key.private_to_pem(OpenSSL::Cipher.new("aes-128-cbc"), "secret"))
    empty = file("empty.pem", "")
    missing = File.join(@folder, "missing")
    {
      { cert_file: missing } => /#{missing} cannot be read: .*; name another/, { cert_file: good.path, key_file: missing } => /#{missing} /,
      { cert_file: @folder } => /#{@folder} /, { cert_file: good.path, key_file: @folder } => /#{@folder} /,
      { cert_file: empty } => /#{empty} holds no certificate/,
      { cert_file: good.path, key_file: empty } => /#{empty} holds no unencrypted private/,
      { cert_file: good.path } => /#{good.path} holds no unencrypted private/,
      { cert_file: good.path, key_file: good.path } => /#{good.path} holds no/,
      { cert_file: good.path, key_file: other.key_path } => /#{other.key_path} .*#{good.path}.*; name another certificate and its key/,
      { cert_file: expired.path, key_file: expired.key_path } => /#{expired.path} has expired; renew it/,
      { cert_file: good.path, key_file: locked } => /#{locked} .*unencrypted/,
      { cert_file: good.key_path } => /#{good.key_path} holds no certificate/,
      { cert_file: good.bundle, ca_file: empty } => /#{empty}/, { cert_file: good.bundle, ca_file: missing } => /#{missing}/,
      { cert_file: HELLO } => /#{HELLO} holds no certificate/
    }
  end

  def test_files_that_are_not_what_they_should_be
    bad_files.each { |settings, expected| assert_match expected, sentence(secure: true, **settings) }
  end

  def test_a_file_that_may_not_be_read
    skip "root may read all" if Process.uid.zero?
    secret = file("secret.key", good.key.private_to_pem)
    File.chmod(0, secret)
    assert_match(/#{secret}.*; make it readable for this user/, sentence(secure: true, cert_file: good.path, key_file: secret))
  end

  def test_settings_that_contradict_each_other
    {
      { secure: true } => /needs a certificate for TLS; name one with --cert-file FILE and --key-file FILE, or .* --self-signed\z/,
      { secure: true, bind: ["unix:/tmp/a"], cert_file: good.bundle } => /secure has no effect without a TCP address/,
      { cert_file: good.path } => /cert_file has no effect without TLS; add --secure/,
      { self_signed: true } => /self_signed has no effect without/,
      { secure: true, key_file: good.key_path } => /key_file needs the certificate/,
      { secure: true, cert_file: good.bundle, self_signed: true } => /remove one of the two/,
      { secure: true, cert_file: good.bundle, client_certificate: "required" } => /name the CA with --ca-file/,
      { secure: true, cert_file: good.bundle, client_certificate: "maybe" } => /must be optional or required/,
      { bind: "ssl://127.0.0.1" } => /ssl:\/\/127\.0\.0\.1 needs a certificate for TLS/,
      { bind: "ssl://127.0.0.1?crt=a" } => /must have only cert, key, ca, verify_mode after the question mark, not crt/,
      { bind: "ssl://127.0.0.1?key=a" } => /must also name the certificate of the key/, { bind: "ssl://" } => /must name a host/,
      { bind: "http://127.0.0.1" } => /must be host, host:port, \[v6\]:port, ssl:/,
      { bind: "ssl://127.0.0.1?cert=#{good.bundle}&verify_mode=some" } => /verify_mode one of none, peer, force_peer/,
      { bind: "ssl://127.0.0.1?cert=#{good.bundle}&verify_mode=peer" } => /name the CA with ca=FILE/
    }.each { |settings, expected| assert_match expected, sentence(**settings) }
  end

  def test_what_goes_together
    ca = Certificates.authority.path
    [{ secure: true, cert_file: good.bundle, ca_file: ca, client_certificate: "required" },
     { bind: ["127.0.0.1", "ssl://[::1]:1?cert=#{good.bundle}&verify_mode=none"] },
     { bind: "ssl://127.0.0.1?ca=#{ca}&verify_mode=force_peer", cert_file: good.path, key_file: good.key_path },
     { secure: true, cert_file: good.bundle, ca_file: File.dirname(file("ca.pem", File.read(ca))) }].each { |settings| read(**settings) }
  end

  # Nobody but the server's own processes shall see it.
  def test_the_secret_of_tickets_is_not_told
    credentials = Upwell::TLS::Credentials.new(Upwell::TLS::AddressSettings.new([Upwell::TLS::Certificate.new(good.bundle)], nil, :unasked))
    assert_equal "#<Upwell::TLS::Credentials #{good.bundle}>", credentials.inspect
  end

  def test_the_secret_of_tickets_goes_with_the_trust
    ca = file("ca.pem", File.read(Certificates.authority.path))
    credentials = Upwell::TLS::Credentials.new(Upwell::TLS::AddressSettings.new([Upwell::TLS::Certificate.new(good.bundle)], ca, :required))
    secrets = [1, 1, 2].map do |round|
      File.write(ca, File.read(Certificates.stranger.path)) if round == 2
      credentials.send(:ticket_secret)
    end
    assert_equal [true, false], [secrets[0] == secrets[1], secrets[1] == secrets[2]]
  end

  def test_contexts
    settings = { certificates: [[good.path, good.key_path, nil]], ca: nil, clients: :unasked, ticket_secret: "s" * 32, ticket_secret_since: 1 }
    Upwell::TLSContext.new(settings)
    assert_raises(KeyError) { Upwell::TLSContext.new(settings.except(:ca)) }
    { certificates: [], clients: :some, ticket_secret: "short" }.each do |name, value|
      assert_raises(ArgumentError) { Upwell::TLSContext.new(settings.merge(name => value)) }
    end
    assert_raises(TypeError) { Upwell::TLSContext.new(settings.merge(certificates: ["path"])) }
    error = assert_raises(Upwell::CertificateError) { Upwell::TLSContext.new(settings.merge(certificates: [["/missing"]])) }
    assert_equal Errno::ENOENT::Errno, error.errno
  end
end
