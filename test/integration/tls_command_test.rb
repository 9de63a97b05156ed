# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/tls_client"

# The options for TLS of the real commands, and what is told about files that are not what they should be.
class TLSCommandTest < Minitest::Test
  HELLO = File.expand_path("../../examples/hello/config.ru", __dir__)
  SECURE = File.expand_path("../../examples/secure", __dir__)

  def setup
    @folder = Dir.mktmpdir
  end

  def teardown
    FileUtils.rm_rf(@folder)
  end

  def file(name, content)
    File.join(@folder, name).tap { |path| File.binwrite(path, content) }
  end

  # @return [String] the one line that a command ends with, which has failed
  def told(*arguments, command: nil)
    arguments = [*command, "-p", "0", *arguments, *(HELLO if command.nil?)]
    output, status = Open3.capture2e(ServerProcess.command.first, *ServerProcess.command.drop(1), *arguments, chdir: @folder)
    assert_equal 1, status.exitstatus, output
    assert_equal 1, output.lines.size, output
    output.chomp
  end

  def good
    Certificates.localhost
  end

  def bad_files
    other = Certificates.stranger.issue("localhost")
    expired = Certificates.authority.issue("localhost", until_seconds: -60)
    locked = file("locked.key", good.key.private_to_pem(OpenSSL::Cipher.new("aes-128-cbc"), "secret"))
    empty = file("empty.pem", "")
    {
      ["-c", "#{@folder}/missing.pem"] => "missing.pem", ["-c", good.path, "-k", "#{@folder}/missing.key"] => "missing.key",
      ["-c", @folder] => @folder, ["-c", good.path, "-k", @folder] => @folder, ["-c", empty] => empty, ["-c", good.path, "-k", empty] => empty,
      ["-c", good.path] => good.path, ["-c", good.path, "-k", good.path] => good.path, ["-c", good.path, "-k", other.key_path] => other.key_path,
      ["-c", expired.path, "-k", expired.key_path] => expired.path, ["-c", good.path, "-k", locked] => locked,
      ["-c", good.key_path, "-k", good.key_path] => good.key_path, ["-c", good.bundle, "-a", empty] => empty,
      ["-c", good.bundle, "-a", "#{@folder}/missing"] => "missing", ["-c", HELLO] => HELLO
    }
  end

  def test_files_that_are_not_what_they_should_be
    bad_files.each do |options, named|
      line = told("-s", *options)
      assert_includes line, named
      assert_match(/\Aupwell: [^\n]+\z/, line)
      refute_match(/error:[0-9A-F]{8}|\(Upwell|rb_/, line)
    end
  end

  def test_options_that_contradict_each_other
    {
      ["-s"] => /there is no certificate; name one with --cert-file FILE and --key-file FILE, or .* --self-signed\z/,
      ["-c", good.path] => /cert_file has no use without TLS; add --secure/, ["--self-signed"] => /self_signed has no use without TLS/,
      ["-s", "-k", good.key_path] => /key_file needs the certificate/, ["-s", "-c", good.bundle, "--self-signed"] => /leave one of the two out/,
      ["-s", "-c", good.bundle, "--client-certificate", "required"] => /name who is with --ca-file/,
      ["-s", "-c", good.bundle, "--client-certificate", "maybe"] => /must be optional or required/,
      ["-b", "ssl://127.0.0.1"] => /ssl:\/\/127\.0\.0\.1 is to be served by TLS, for which there is no certificate/,
      ["-b", "ssl://127.0.0.1?crt=a"] => /must have no crt after the question mark, but cert, key, ca, verify_mode/,
      ["-b", "ssl://127.0.0.1?key=a"] => /must name the certificate, too/, ["-b", "ssl://"] => /must name a host/,
      ["-b", "ssl://127.0.0.1?cert=#{good.bundle}&verify_mode=some"] => /verify_mode of none, peer, force_peer/,
      ["-b", "ssl://127.0.0.1?cert=#{good.bundle}&verify_mode=peer"] => /name with ca=FILE/
    }.each { |options, sentence| assert_match sentence, told(*options) }
  end

  def test_the_static_server_tells_the_same
    assert_match(/missing\.pem/, told("-s", "-c", "#{@folder}/missing.pem", command: ["static"]))
    assert_match(/there is no certificate/, told("-s", command: ["static"]))
  end

  def test_workers_that_cannot_be
    assert_match(/missing\.pem/, told("-s", "-w", "2", "-c", "#{@folder}/missing.pem"))
  end

  def test_a_file_that_may_not_be_read
    skip "root may read all" if Process.uid.zero?
    secret = file("secret.key", good.key.private_to_pem)
    File.chmod(0, secret)
    assert_match(/#{secret}.*may not/, told("-s", "-c", good.path, "-k", secret))
  end

  def check(*arguments, **environment)
    Open3.capture2e(environment.transform_keys(&:to_s), *ServerProcess.command("--check", *arguments), chdir: @folder)
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
      output, = Open3.capture2e(*ServerProcess.command(*command, "--help"))
      [/-s, --secure$/, /-c, --cert-file FILE /, /-k, --key-file FILE /, /-a, --ca-file FILE /, /--client-certificate WORD$/,
       /--self-signed /].each { |option| assert_match(option, output) }
    end
  end

  def test_a_certificate_for_development
    [[[], HELLO], [["static"], SECURE]].each do |command, app|
      ServerProcess.open("-s", "--self-signed", command: command, app: app, environment: { "XDG_DATA_HOME" => @folder }) do |server|
        path = File.join(@folder, "upwell/localhost.pem")
        assert_match(/^the certificate for development is #{path};/, server.lines.join)
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

  # Nobody but the server's own processes shall see it.
  def test_the_secret_of_tickets_is_not_told
    credentials = Upwell::TLS::Credentials.new(Upwell::TLS::Settings.new([Upwell::TLS::Certificate.new(good.bundle)], nil, :unasked))
    assert_equal "#<Upwell::TLS::Credentials #{good.bundle}>", credentials.inspect
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
