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
    write("config/upwell.rb", "workers 2\ndrain_timeout 99.5\nbind ['unix:/run/shop.sock?mode=0660', 'ssl://0.0.0.0:443', '[::1]']\nport 81\n" \
                              "certificate 'a.pem'")
    write("Gemfile", "")
    output, status = init("systemd")
    assert_equal 0, status, output
    service = read("upwell.service")
    assert_match(/^TimeoutStopSec=110$/, service)
    assert_match(%r{^ExecStart=/\S*bundle exec upwell$}, service)
    assert_match(%r{^ListenStream=/run/shop.sock\nListenStream=0.0.0.0:443\nListenStream=\[::1\]:81$}, read("upwell.socket"))
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
