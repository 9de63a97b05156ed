# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/tls_client"

# The options for TLS of the real commands, and what is told about files that are not what they should be.
class TLSOptionsTest < Minitest::Test
  HELLO = File.expand_path("../../examples/hello/config.ru", __dir__)
  SECURE = File.expand_path("../../examples/secure", __dir__)

  def setup
    @folder = Dir.mktmpdir
  end

  TOLD_WITHIN = 60 # seconds

  def teardown
    FileUtils.rm_rf(@folder)
  end

  # @return [String] the one line that a command ends with, which has failed
  def told(*arguments, command: nil)
    arguments = [*command, "-p", "0", *arguments, *(HELLO if command.nil?)]
    bounded = ServerProcess.spawn_arguments(*arguments, prefix: ["timeout", TOLD_WITHIN.to_s]) # one may serve
    output, status = Open3.capture2e(*bounded, chdir: @folder)
    assert_equal 1, status.exitstatus, output
    assert_equal 1, output.lines.size, output
    output.chomp
  end

  def good
    Certificates.localhost
  end

  def test_one_sentence_and_no_server
    missing = File.join(@folder, "missing.pem")
    assert_match(/\Aupwell: #{missing} cannot be read: .*; name another with --cert-file/, told("-s", "-c", missing))
    assert_match(/\Aupwell: .* needs a certificate for TLS; name one with --cert-file/, told("-s"))
  end

  def test_the_static_server_tells_the_same
    assert_match(/missing\.pem/, told("-s", "-c", "#{@folder}/missing.pem", command: ["static"]))
    assert_match(/needs a certificate for TLS/, told("-s", command: ["static"]))
  end

  def configured_with_ocsp(path, certificate: good.path)
    File.join(@folder, "configuration.rb").tap do |file|
      File.write(file, "secure\ncertificate '#{certificate}', key: '#{good.key_path}', ocsp: '#{path}'")
    end
  end

  def test_an_ocsp_response_that_vouches_for_nothing
    revoked = Certificates.authority.vouch_for(good, status: OpenSSL::OCSP::V_CERTSTATUS_REVOKED)
    assert_match(/\Aupwell: the OCSP response in #{revoked} says .* is revoked; get /, told("-C", configured_with_ocsp(revoked)))
    other = Certificates.authority.vouch_for(Certificates.authority.issue("localhost"))
    assert_match(/#{other} is not for the certificate in #{good.path}; get /, told("-C", configured_with_ocsp(other)))
    assert_match(/#{good.path} holds no OCSP response in DER form/, told("-C", configured_with_ocsp(good.path)))
    assert_match(/missing.ocsp cannot be read/, told("-C", configured_with_ocsp("#{@folder}/missing.ocsp")))
  end

  def told_of_ocsp(path, chain)
    told("-C", configured_with_ocsp(path, certificate: chain))
  end

  def test_an_ocsp_response_of_another_authority
    chain = File.join(@folder, "chain.pem")
    File.write(chain, [good.path, Certificates.authority.path].map { |path| File.read(path) }.join)
    namesake = Certificates::Authority.new("trusted") # of the same name, with a key of its own
    other = namesake.vouch_for(good)
    assert_match(/#{other} is not for the certificate in #{chain}; get /, told_of_ocsp(other, chain))
    assert_match(/ cannot be verified: #{good.path} lacks the issuer's certificate; append it to that file/, told_of_ocsp(other, good.path))
    forged = Certificates.authority.vouch_for(good, signer: namesake.own)
    assert_match(/#{forged} is not signed for the issuer of the certificate in #{chain}.*; get /, told_of_ocsp(forged, chain))
  end

  def test_a_key_that_everybody_can_read
    key = File.join(@folder, "key.pem")
    FileUtils.cp(good.key_path, key)
    { 0o644 => 1, 0o640 => 0 }.each do |mode, count|
      File.chmod(mode, key)
      ServerProcess.open("-s", "-c", good.path, "-k", key) do |server|
        assert_equal count, server.lines.grep(/every user of this machine can read the key in #{key}; run chmod o= on it/).size,
                     server.lines.join
      end
    end
  end

  def test_workers_that_cannot_be
    assert_match(/missing\.pem/, told("-s", "-w", "2", "-c", "#{@folder}/missing.pem"))
  end

  def check(*arguments, **environment)
    Open3.capture2e(*ServerProcess.spawn_arguments("--check", *arguments, environment: environment.transform_keys(&:to_s)), chdir: @folder)
  end

  def test_check
    output, status = check("-s", "-c", good.path, "-k", good.key_path)
    assert_predicate status, :success?
    assert_match(/^  openssl +\d/, output)
    assert_match(/^    cert_file #{good.path}$/, output)
    output, status = check("-s", "-c", "#{@folder}/missing.pem")
    refute_predicate status, :success?
    assert_match(/^upwell: .*missing\.pem/, output)
    output, status = check("-s", "--self-signed", XDG_DATA_HOME: @folder)
    assert_predicate status, :success?, output
  end

  def test_help
    [[], ["static"]].each do |command|
      output, = Open3.capture2e(*ServerProcess.spawn_arguments(*command, "--help"))
      [/-s, --secure /, /-c, --cert-file FILE /, /-k, --key-file FILE /, /-a, --ca-file FILE /, /--client-certificate WORD /,
       /--self-signed /].each { |option| assert_match(option, output) }
    end
  end

  def test_a_certificate_for_development
    [[[], HELLO], [["static"], SECURE]].each do |command, app|
      ServerProcess.open("-s", "--self-signed", command: command, app: app, environment: { "XDG_DATA_HOME" => @folder }) do |server|
        path = File.join(@folder, "upwell/localhost.pem")
        assert_match(/^the development certificate is #{path};/, server.lines.join)
        output, status = Open3.capture2e("curl", "-sS", "--max-time", "20", "--cacert", path, "https://localhost:#{server.port}/config.ru")
        assert_predicate status, :success?, output
      end
    end
  end

  def test_the_example
    ServerProcess.open("--self-signed", app: File.join(SECURE, "config.ru"), environment: { "XDG_DATA_HOME" => @folder },
                                        spawn: { chdir: SECURE }) do |server|
      output, = Open3.capture2e("curl", "-sS", "--max-time", "20", "-k", "https://localhost:#{server.port}/")
      assert_match(/^SSL_PROTOCOL: TLSv1\.3$/, output)
    end
  end

  def test_the_handler_of_rackup
    program = "require 'rackup'; require 'upwell/rack_handler'; require 'rackup/handler/upwell'; " \
              "app = ->(env) { [200, {}, [env['rack.url_scheme']]] }; " \
              "Rackup::Handler::Upwell.run(app, Port: 3000, config: 'config.ru', " \
              "Host: 'ssl://127.0.0.1:0?cert=#{good.path}&key=#{good.key_path}')"
    IO.popen([RbConfig.ruby, "-I#{ServerProcess::ROOT}/lib", "-e", program], err: %i[child out]) do |output|
      port = output.gets[%r{https://127\.0\.0\.1:(\d+)}, 1].to_i
      assert_equal "https", TLSClient.get(port, "/").body
      Process.kill("TERM", output.pid)
      output.read
    end
  end
end
