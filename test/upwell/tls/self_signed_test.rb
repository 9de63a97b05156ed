# frozen_string_literal: true

require "pty"
require_relative "../../test_helper"
require_relative "../../support/certificates"

# The certificate for development: one file of the user's, whole or not there, made anew when it is of no use any more.
class SelfSignedTest < Minitest::Test
  DAY = 86_400
  AT_ONCE = 6
  PATIENCE = 30 # seconds

  def setup
    @home = Dir.mktmpdir
    @path = File.join(@home, "upwell", "localhost.pem")
  end

  def teardown
    FileUtils.rm_rf(@home)
  end

  def ensure_file(environment = { "XDG_DATA_HOME" => @home })
    Upwell::TLS::SelfSigned.new(environment).ensure_file
  end

  def sentence(...)
    assert_raises(Upwell::ConfigurationError) { ensure_file(...) }.message
  end

  # Has this lie there already.
  def leave(text)
    FileUtils.mkdir_p(File.dirname(@path))
    File.write(@path, text)
  end

  def certificate(seconds, names)
    File.read(Certificates.make("own", "localhost", nil, ["subjectAltName=#{names}"], until_seconds: seconds).bundle)
  end

  def own_names
    "DNS:localhost,IP:127.0.0.1,IP:::1,DNS:#{Socket.gethostname}"
  end

  def test_it_is_made_for_this_machine_and_this_user_alone
    assert_equal @path, ensure_file
    text = File.read(@path)
    made = OpenSSL::X509::Certificate.new(text)
    ["localhost", "127.0.0.1", "::1", Socket.gethostname].each { |name| assert OpenSSL::SSL.verify_certificate_identity(made, name), name }
    assert made.check_private_key(OpenSSL::PKey.read(text))
    assert_equal [0o600, 0o700], [@path, File.dirname(@path)].map { |path| File.stat(path).mode & 0o777 }
    assert_equal ["localhost.pem"], Dir.children(File.dirname(@path))
  end

  def test_without_xdg_data_home_it_lies_in_the_usual_place_of_the_home
    ["", "relative"].each do |data|
      path = ensure_file({ "HOME" => @home, "XDG_DATA_HOME" => data })
      assert_equal File.join(@home, ".local/share/upwell/localhost.pem"), path
      assert File.file?(path)
    end
  end

  def test_it_is_used_until_near_its_end
    ensure_file
    { File.read(@path) => true, certificate(31 * DAY, own_names) => true, certificate(29 * DAY, own_names) => false,
      certificate(90 * DAY, "DNS:localhost,IP:127.0.0.1,IP:::1,DNS:another.example") => false,
      "" => false, "no certificate" => false, certificate(90 * DAY, own_names)[0, 500] => false }.each do |text, kept|
      leave(text)
      ensure_file
      assert_equal kept, File.read(@path) == text, text
      assert OpenSSL::X509::Certificate.new(File.read(@path)).check_private_key(OpenSSL::PKey.read(File.read(@path)))
    end
  end

  # At a terminal OpenSSL would ask for it, and wait.
  def test_nobody_is_asked_for_the_password_of_a_key
    key = OpenSSL::PKey::EC.generate("prime256v1").private_to_pem("aes-128-cbc", "secret")
    leave(certificate(90 * DAY, own_names)[/.*END CERTIFICATE-----\n/m] + key)
    program = "require 'upwell'; require 'upwell/tls'; puts Upwell::TLS::SelfSigned.new.ensure_file"
    PTY.spawn({ "XDG_DATA_HOME" => @home }, RbConfig.ruby, "-I#{File.expand_path("../../../lib", __dir__)}", "-e", program) do |output, _, pid|
      assert_equal @path, Timeout.timeout(PATIENCE) { output.gets }.chomp
    ensure
      Process.kill("KILL", pid)
      Process.wait(pid)
    end
    refute_includes File.read(@path), "ENCRYPTED"
  end

  def test_one_that_others_could_read_halfway_is_not_left_so
    FileUtils.mkdir_p(File.dirname(@path))
    File.write("#{@path}.new", "left behind", perm: 0o644)
    ensure_file
    assert_equal 0o600, File.stat(@path).mode & 0o777
  end

  def test_of_several_that_start_at_once_all_have_the_same
    pids = Array.new(AT_ONCE) { |index| fork { exit!(File.write(File.join(@home, index.to_s), File.read(ensure_file)).positive?) } }
    pids.each { |pid| assert_predicate Process.wait2(pid).last, :success? }
    assert_equal 1, Array.new(AT_ONCE) { |index| File.read(File.join(@home, index.to_s)) }.uniq.size
  end

  # Nothing can be written, as on a full disk.
  def test_on_a_full_disk_nothing_is_left
    reader, writer = IO.pipe
    pid = fork do
      trap("XFSZ", "IGNORE")
      Process.setrlimit(:FSIZE, 10)
      ensure_file
    rescue Upwell::ConfigurationError => e
      writer.write(e.message)
    ensure
      exit!(0)
    end
    writer.close
    Process.wait(pid)
    assert_match(/\Acannot create the development certificate #{@path}: .*; set XDG_DATA_HOME to a directory that you own,/, reader.read)
    assert_empty Dir.children(File.dirname(@path))
  end

  def test_what_is_wrong_is_told
    file = File.join(@home, "file").tap { |path| File.write(path, "") }
    assert_equal "cannot create the development certificate #{file}/upwell/localhost.pem: a file with this name exists already; " \
                 "set XDG_DATA_HOME to a directory that you own, or name a certificate with --cert-file", sentence({ "XDG_DATA_HOME" => file })
    assert_match(/certificate \/proc\/nobody\/upwell\/localhost.pem: no such file/, sentence({ "XDG_DATA_HOME" => "/proc/nobody" }))
    assert_match(/HOME is not set/, sentence({}))
    FileUtils.mkdir_p(@path)
    assert_match(/localhost.pem: it is a directory; /, sentence)
  end
end
