# frozen_string_literal: true

require_relative "../test_helper"

# `upwell init systemd`: the units that it writes.
class SystemdUnitsTest < Minitest::Test
  def setup
    @folder = Dir.mktmpdir("shop 100%")
    write("config.ru", "run ->(_) { [200, {}, []] }")
  end

  def teardown
    FileUtils.rm_rf(@folder)
  end

  def write(name, text)
    path = File.join(@folder, name)
    FileUtils.mkdir_p(File.dirname(path))
    File.write(path, text)
  end

  def read(name)
    File.read(File.join(@folder, name))
  end

  def init(*arguments)
    output, status = Open3.capture2e(*ServerProcess.spawn_arguments("init", *arguments), chdir: @folder)
    [output, status.exitstatus]
  end

  def test_both_units_and_the_next_step
    output, status = init("systemd")
    assert_equal 0, status, output
    assert_match(/\Awrote upwell.service\nwrote upwell.socket\n/, output)
    assert_match(/sudo systemctl enable --now upwell.socket upwell.service$/, output)
    service = read("upwell.service")
    assert_includes service, "WorkingDirectory=#{File.realpath(@folder).gsub("%", "%%")}\n"
    assert_match(%r{^ExecStart=/\S+ -w auto$}, service)
    assert_match(/^TimeoutStopSec=40$/, service)
    assert_match(/^ListenStream=127.0.0.1:3000\nListenStream=\[::1\]:3000$/, read("upwell.socket"))
  end

  def test_settings_of_the_configuration_file
    write("config/upwell.rb", "workers 2\ndrain_timeout 99.5\ndrain_delay 5\ncertificate 'a.pem'\nport 81\n" \
                              "bind ['unix:/run/shop.sock?mode=0660', 'ssl://0.0.0.0:443', '[::1]']")
    write("Gemfile", "")
    output, status = init("systemd")
    assert_equal 0, status, output
    service = read("upwell.service")
    assert_match(/^TimeoutStopSec=115$/, service)
    assert_match(%r{^ExecStart=/\S*bundle exec upwell$}, service)
    assert_match(%r{^ListenStream=/run/shop.sock\nListenStream=0.0.0.0:443\nListenStream=\[::1\]:81$}, read("upwell.socket"))
  end

  # @return [Array<String>] the settings of the socket unit
  def socket_settings(configuration)
    %w[upwell.service upwell.socket].each { |name| FileUtils.rm_f(File.join(@folder, name)) }
    write("config/upwell.rb", configuration)
    output, status = init("systemd")
    assert_equal 0, status, output
    read("upwell.socket")[/\[Socket\]\n(.*)\nBacklog/m, 1].lines(chomp: true)
  end

  def test_both_families_on_one_port
    both = %w[ListenStream=0.0.0.0:80 ListenStream=[::]:80 BindIPv6Only=ipv6-only]
    assert_equal both, socket_settings("bind ['0.0.0.0:80', '[::]:80']")
    assert_equal %w[ListenStream=[::]:80], socket_settings("bind '[::]:80'")
    assert_equal %w[ListenStream=[::]:80 ListenStream=127.0.0.1:80 ListenStream=[::]:81 ListenStream=0.0.0.0:81 BindIPv6Only=ipv6-only],
                 socket_settings("bind ['[::]:80', '127.0.0.1:80', '[::]:81']")
  end

  def test_addresses_that_others_cover_are_left_out
    assert_equal %w[ListenStream=0.0.0.0:80 ListenStream=127.0.0.1:81],
                 socket_settings("bind ['127.0.0.1:80', '0.0.0.0:80', '0.0.0.0:80', '127.0.0.1:81']")
  end

  def test_addresses_of_other_machines_are_left_out
    resolver = "Addrinfo.singleton_class.prepend(Module.new { def getaddrinfo(*) = super + [Addrinfo.tcp('192.0.2.1', 0)] })"
    assert_equal %w[ListenStream=127.0.0.1:80], socket_settings("#{resolver}\nbind '127.0.0.1:80'")
    write("config/upwell.rb", "bind '192.0.2.1:80'")
    assert_equal ["upwell init: bind 192.0.2.1: this machine does not have the address; choose another one\n", 1], init("systemd")
  end

  def test_permissions_of_unix_sockets
    name = Etc.getpwuid(0).name
    group = Etc.getgrgid(0).name
    assert_equal ["ListenStream=/run/a", "ListenStream=/run/b", "SocketMode=0660", "SocketUser=#{name}", "SocketGroup=#{group}"],
                 socket_settings("bind ['unix:/run/a?mode=660&user=0&group=0', 'unix:/run/b?mode=0660&user=#{name}&group=#{group}']")
    write("config/upwell.rb", "bind ['unix:/run/a?mode=0660', 'unix:/run/b']")
    sentence = "upwell init: bind: the UNIX sockets of one unit must have the same mode, user and group; give all the same ones\n"
    assert_equal [sentence, 1], init("systemd")
  end

  def test_the_server_switches_the_user
    socket_settings("user '#{Etc.getpwuid(0).name}'")
    refute_match(/^User=/, read("upwell.service"))
    socket_settings("workers 2")
    assert_match(/^User=\w+$/, read("upwell.service"))
  end

  def test_one_sentence_for_each_mistake
    assert_equal ["upwell init: name what to create: upwell init systemd\n", 1], init
    assert_equal ["upwell init: name what to create: upwell init systemd\n", 1], init("upstart")
    write("upwell.socket", "mine")
    assert_equal ["upwell init: upwell.socket exists already; remove it, or change to another directory\n", 1], init("systemd")
    refute_path_exists File.join(@folder, "upwell.service")
    File.unlink(File.join(@folder, "config.ru"))
    assert_match(/config.ru does not exist; change to the application's directory/, init("systemd").first)
  end

  def test_systemd_accepts_the_units
    skip "no systemd-analyze here (Debian: systemd)" unless system("which systemd-analyze", out: File::NULL)
    _, status = init("systemd")
    assert_equal 0, status
    Dir.mktmpdir do |units|
      # The directory's name is not for the shell, and verify looks for units beside the given ones.
      %w[upwell.service upwell.socket].each { |name| FileUtils.cp(File.join(@folder, name), units) }
      output, status = Open3.capture2e("systemd-analyze", "verify", "--man=no", "#{units}/upwell.service", "#{units}/upwell.socket")
      assert_equal "", output.lines.grep(/upwell/).join
      assert_predicate status, :success?, output
    end
  end
end
