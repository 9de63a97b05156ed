# frozen_string_literal: true

require_relative "../test_helper"

# What an operator may write wrongly, given to the real command: one clear sentence with its place, and status 1.
class ConfigurationErrorsTest < Minitest::Test
  HELLO = File.expand_path("../../examples/hello/config.ru", __dir__)
  SENTENCES_OF_RUBY = /NoMethodError|FileReader|rb_sysopen|\bfrom .*:\d+:in/

  # In a folder of its own, with nothing in the environment that configures.
  def command(directory, *arguments, env: {})
    plain = %w[PORT UPWELL_MODE UPWELL_BACKEND RACK_ENV RAILS_ENV].to_h { |name| [name, nil] }
    output, status = Open3.capture2e(BundleGemPaths.environment(plain.merge(env)), *ServerProcess.command(*arguments), chdir: directory)
    [output.force_encoding(Encoding::UTF_8), status.exitstatus] # in any locale
  end

  def assert_refused(message, output, status, mistake)
    assert_match(/\Aupwell: .*#{message.source}/, output, mistake)
    refute_match SENTENCES_OF_RUBY, output, mistake
    assert_equal 1, status, mistake
  end

  IN_THE_FILE = {
    "prot 80" => /f\.rb:1: unknown setting prot \(did you mean port\?\); upwell --help lists all settings$/,
    "workers 2\ncafé" => /f\.rb:2: unknown setting café/, "port = 80" => /f\.rb:1: port = \.\.\. is a Ruby variable.*: port VALUE/,
    "\nport 'x'" => /f\.rb:2: port: must be a port from 0 to 65535, got "x"/, "workers 1.5" => /f\.rb:1: workers: must be a number .*, got 1\.5/,
    "port 1, 2" => /f\.rb:1: port takes one value, got 1, 2/, "port" => /f\.rb:1: port takes one value, got none/,
    "bind" => /f\.rb:1: bind: must be host/, "preload 'yes'" => /f\.rb:1: preload: must be true or false/,
    "mode :quick" => /f\.rb:1: mode: must be fibers, inline, .*, got :quick/, "\nexit 3" => /f\.rb:2: the file exits the program \(exit 3\)/,
    "before_fork" => /f\.rb:1: before_fork needs a block/, "\nraise 'on purpose'" => /f\.rb:2: on purpose \(RuntimeError\)/,
    "\nworkers )" => /f\.rb:2: syntax error; correct it:$/, "require 'nowhere'" => /f\.rb:1: cannot load such file -- nowhere/
  }.freeze

  def test_in_the_file
    Dir.mktmpdir do |directory|
      IN_THE_FILE.each do |text, message|
        File.write(File.join(directory, "f.rb"), text)
        output, status = command(directory, "-C", "f.rb", HELLO)
        assert_refused(/configuration file #{message.source}/, output, status, text)
      end
    end
  end

  AS_OPTIONS = {
    %w[-C nowhere.rb] => /nowhere\.rb cannot be read: no such file or directory; name another with -C$/,
    %w[-C .] => /cannot be read: it is a directory/,
    %w[-w 1.5] => /option workers: must be a number .*, got "1\.5"/, %w[-p 0x50] => /option port: must be a port/,
    %w[-b unix:] => /option bind: must be host, .* or unix:PATH/, %w[-b tcp://0.0.0.0:3000] => /option bind: must be host/,
    %w[-b unix:nowhere/socket] => /cannot listen on unix:nowhere\/socket: no such file or directory; choose another/,
    ["-b", "unix:#{"x" * 200}"] => /cannot listen on unix:x+: too long unix socket path.*; choose another/,
    %w[-b unix:file] => /cannot listen on unix:file: a file with this name exists already/,
    %w[-b 127.0.0.1 -p 0].then { |one| one + (["-b", "127.0.0.1:0"] * 16) } => /at most 16 addresses, not 17/,
    %w[-P nowhere/pid] => /pid file .*nowhere\/pid cannot be written: no such file or directory; choose another/,
    %w[-l .] => /log file .* cannot be written: it is a directory; choose another/,
    %w[--pubsub redis:5//:sesame@h] => /option pubsub: must be .*, got "redis:5\/\/:\*\*\*@h"$/,
    %w[--drain-timeout nan] => /drain_timeout: must be a number of seconds/
  }.freeze

  def test_as_options
    Dir.mktmpdir do |directory|
      File.write(File.join(directory, "file"), "")
      AS_OPTIONS.each { |arguments, message| assert_refused(message, *command(directory, *arguments, HELLO), arguments.join(" ")) }
    end
  end

  # @yieldparam directory [String] with an application that says in which environment it is loaded, and ends there
  def application
    Dir.mktmpdir do |directory|
      File.write(File.join(directory, "config.ru"), "warn \"loaded in \#{ENV['RACK_ENV']} with \#{ENV['RAILS_ENV']}\"\nexit! 7\n")
      yield directory
    end
  end

  def test_the_environment_of_rails_is_that_of_rack_where_none_is_named
    application do |directory|
      port = %w[-p 0]
      { { "RAILS_ENV" => "production" } => "production with production",
        { "RACK_ENV" => "test", "RAILS_ENV" => "production" } => "test with production",
        {} => "development with" }.each do |env, loaded|
        assert_includes command(directory, *port, env: env).first, "loaded in #{loaded}"
      end
      assert_includes command(directory, *port, "-E", "test", env: { "RAILS_ENV" => "production" }).first, "loaded in test"
    end
  end

  def test_the_file_of_the_application_is_found
    application do |directory|
      Dir.mkdir(File.join(directory, "config"))
      File.write(File.join(directory, "config", "upwell.rb"), "port 0\nenvironment 'staging' # où\n")
      assert_includes command(directory, env: { "LC_ALL" => "C" }).first, "loaded in staging"
      assert_match(/configuration +config\/upwell\.rb$.*^ +environment staging$/m, command(directory, "--check").first)
    end
  end

  def test_check_reads_the_file
    Dir.mktmpdir do |directory|
      File.write(File.join(directory, "f.rb"), "mode 'threads:5'\nbind 'a', 'b'\n")
      output, status = command(directory, "--check", "-C", "f.rb")
      assert_match(/configuration +f\.rb$.*bind a, b$.*mode threads:5$/m, output)
      refute_match(/\$\(/, output)
      assert_equal 0, status
      File.write(File.join(directory, "f.rb"), "prot 1")
      output, status = command(directory, "-C", "f.rb", "--check")
      assert_match(/^upwell: configuration file f\.rb:1: unknown setting prot/, output)
      assert_equal 1, status
    end
  end

  def test_check_tells_no_password
    output, = command(Dir.tmpdir, "--check", "--pubsub", "redis://me:sesame@h:1/0")
    assert_match(/^ +pubsub redis:\/\/me:\*\*\*@h:1\/0$/, output)
  end

  URL = "redis://me:se:s@m/e@h:1/0" # not one: what is to be percent-encoded is not
  TELLING = {
    ["--pubsub", URL] => nil, ["--pubsubb=#{URL}"] => nil, [URL] => nil, ["--bind", URL] => nil, ["-C", URL] => nil,
    ["-C", "f.rb"] => "pubsub '#{URL}'", ["--check", "-C", "f.rb"] => "pubsub '#{URL}', 2",
    ["-p", "0", "-C", "f.rb"] => "pubsub '#{URL}\n", ["-p", "1", "-C", "f.rb"] => "raise '#{URL}'"
  }.freeze

  def test_no_message_tells_a_password
    Dir.mktmpdir do |directory|
      TELLING.each do |arguments, file|
        File.write(File.join(directory, "f.rb"), file) if file
        output, status = command(directory, *arguments)
        refute_equal 0, status, arguments
        refute_match(/se:s|s@m|m\/e/, output, arguments)
      end
    end
  end

  def test_the_titles_of_processes_tell_no_password
    [[], ["-w", "1"]].each do |options|
      ServerProcess.open("--pubsub", "redis://me:sesame@127.0.0.1:1", *options) do |server|
        titles = [server.pid, *server.workers].map { |pid| File.read("/proc/#{pid}/cmdline") }
        titles.each { |title| assert_match(/\Aupwell: (?!.*sesame)/, title) }
        assert_predicate server.stop, :success?
        refute_match(/sesame/, server.lines.join)
      end
    end
  end

  def test_inspect_tells_no_password
    configuration = Upwell::Configuration.new({ pubsub: "redis://me:sesame@h:1/0" }, environment: {})
    assert_match(%r{redis://me:\*\*\*@}, configuration.inspect)
  end

  NO_COMMANDS = {
    "stop" => /stop is neither a file nor a command; to stop a server, send it SIGTERM: kill -TERM PID$/,
    "statc" => /statc is neither a file nor a command; did you mean: upwell static\?$/,
    "other" => /other is neither a file nor a command; name the application's config\.ru, or leave the argument out$/
  }.freeze

  def test_a_word_that_is_no_command
    Dir.mktmpdir do |directory|
      NO_COMMANDS.each { |word, message| assert_refused(message, *command(directory, word), word) }
    end
  end

  def test_an_application_that_cannot_be_loaded_shows_its_own_frames
    Dir.mktmpdir do |directory|
      File.write(File.join(directory, "config.ru"), "def deep = raise('on purpose')\ndeep\n")
      output, status = command(directory, "-p", "0")
      assert_equal [1, ["config.ru:2"]], [status, output.scan(/^\s*from .*?(\w+\.\w+:\d+)/).flatten], output
    end
  end
end
