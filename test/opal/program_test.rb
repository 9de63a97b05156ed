# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"
require "upwell/opal/program"

# A compiled program's own command line: it needs no Ruby, and says what the commands say.
class OpalProgramTest < Minitest::Test
  include OpalRuntimes

  APP = File.join(__dir__, "support", "process_state.ru")

  def setup
    need("up_node")
    @program = Upwell::Opal::Program.new(APP, :node).path
  end

  def call(*arguments, environment: {})
    text, status = Open3.capture2e(environment, "node", @program, *arguments)
    [text.gsub(File.basename(@program), "up_node"), status.exitstatus]
  end

  def command(*arguments)
    text, status = Open3.capture2e(OpalProcess.environment, *OpalProcess.command("up_node", *arguments, APP))
    [text, status.exitstatus]
  end

  def test_what_is_wrong_is_told_as_the_command_tells_it
    [%w[--nope], %w[-p x], %w[-p 70000], %w[--mode inline], %w[-w -1], %w[--body-bytes-max 0], %w[--drain-timeout x], %w[-b unix:],
     %w[-b http://a], %w[--client-certificate maybe]].each do |arguments|
      expected = command(*arguments)
      assert_equal expected, call(*arguments)
      assert_includes [1, 2], expected.last
    end
  end

  def test_inherited_sockets_are_refused
    inheriting = ["sh", "-c", 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', "sh"]
    text, status = Open3.capture2e({ "NOTIFY_SOCKET" => "/nowhere" }, *inheriting, "node", @program)
    assert_match(/: a server on a JavaScript runtime cannot serve on inherited sockets; remove the .socket unit, or use upwell$/, text)
    assert_equal 1, status.exitstatus
  end

  def test_the_notify_socket_is_ignored
    text, = call("-l", "/nowhere/log", environment: { "NOTIFY_SOCKET" => "/nowhere" })
    assert_match(/NOTIFY_SOCKET is ignored: a server on a JavaScript runtime does not notify the service manager; use Type=exec/, text)
  end

  def test_an_option_without_its_argument
    assert_equal ["up_node: missing argument: -p; see up_node --help\n", 2], call("-p")
  end

  def test_what_is_wrong_about_tls
    { %w[-s] => /localhost needs a certificate for TLS; /, %w[-c /c] => /cert_file has no effect without TLS/,
      %w[-s -k /k] => /key_file needs the certificate/ }.each do |arguments, sentence|
      text, status = call(*arguments)
      assert_match(/\Aup_node: #{sentence}/, text)
      assert_equal 1, status
    end
  end

  def test_help_has_the_same_options
    text, status = call("--help")
    assert_equal 0, status
    assert_equal command("--help").first.lines.grep(/^    /).grep_v(/--config/), text.lines.grep(/^    /)
  end

  def test_version
    assert_equal ["upwell #{Upwell::VERSION}\n", 0], call("--version")
  end

  def test_an_application_cannot_be_named
    assert_equal ["up_node: this program serves only the application compiled into it; remove the argument config.ru\n", 1], call("config.ru")
  end

  def test_an_application_that_cannot_be_loaded
    text, status = call("-p", "0", environment: { "REFUSE" => "1" })
    assert_match(/refused \(RuntimeError\)/, text)
    assert_match(/^up_node: the application raised RuntimeError while loading; correct the place that the backtrace above names\n\z/, text)
    assert_equal 1, status
  end

  def test_workers_that_cannot_load_it
    text, status = call("-p", "0", "-w", "2", environment: { "REFUSE" => "1" })
    assert_match(/: the application raised RuntimeError while loading; .*: worker \d could not start; see its message above\n/m, text)
    assert_equal 1, status
  end
end
