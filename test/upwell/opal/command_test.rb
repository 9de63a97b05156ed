# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/opal_process"

# The command lines of up, up_node, up_bun and their clusters, before there is a program.
class OpalCommandTest < Minitest::Test
  HELLO = File.join(ServerProcess::ROOT, "examples", "hello", "config.ru")

  def call(name, *arguments, environment: {}, **options)
    text, status = Open3.capture2e(OpalProcess.environment(environment), *OpalProcess.command(name, *arguments), **options)
    [text, status.exitstatus]
  end

  def test_help_has_the_options_of_the_one_table
    OpalProcess::RUNTIMES.each_key do |name|
      text, status = call(name, "--help")
      assert_equal 0, status
      assert_match(/\AUsage: #{name} \[options\] \[config\.ru\]\n/, text)
      %w[-h -p -b -s -a -c -k -l -P -v -w -E -C].each { |option| assert_match(/^    #{option}, --/, text, name) }
      assert_match(/^        --drain-timeout SECONDS .*\[30\]$/, text)
      refute_match(/--mode|--backend/, text)
    end
  end

  def test_a_cluster_has_as_many_workers_as_processors
    assert_match(/-w, --workers N .*\[auto\]$/, call("up_node_cluster", "--help").first)
    assert_match(/-w, --workers N .*\[0\]$/, call("up_node", "--help").first)
  end

  def test_version
    assert_equal ["upwell #{Upwell::VERSION}\n", 0], call("up_bun", "-v")
  end

  def test_an_option_of_the_core_is_told_as_such
    sentence = "up_node: invalid option: --mode, which only other commands have; see up_node --help\n"
    assert_equal [sentence, 2], call("up_node", "--mode", "inline")
    assert_equal ["up_node: invalid option: --nope; see up_node --help\n", 2], call("up_node", "--nope")
  end

  def test_the_options_of_the_logs_are_refused
    [%w[--access-log], %w[--access-log=log], %w[--access-log-except /up], %w[--log-format json], %w[--quiet]].each do |arguments|
      option = arguments.first[/[^=]+/]
      assert_equal ["up_node: invalid option: #{option}, which only other commands have; see up_node --help\n", 2], call("up_node", *arguments)
    end
  end

  # Which is the beginning of --headers-max.
  def test_fields_of_responses_are_refused
    sentence = "invalid option: --header, which only other commands have; see"
    [["--header", "X-A: 1"], ["--header=7"], ["-p", "0", "--header", "7"]].each do |arguments|
      %w[up up_node up_bun up_node_cluster].each do |name|
        assert_equal ["#{name}: #{sentence} #{name} --help\n", 2], call(name, *arguments)
      end
    end
  end

  def test_what_cannot_be_is_refused_before_anything_is_compiled
    { ["-p", "x"] => 'option port: must be a port from 0 to 65535, got "x"',
      ["a.ru", "b.ru"] => "only one config.ru can be served, not 2: a.ru b.ru; name one",
      ["/nowhere.ru"] => "/nowhere.ru does not exist; change to the application's directory, or name its config.ru" }
      .each do |arguments, sentence|
      assert_equal ["up: #{sentence}\n", 1], call("up", *arguments)
    end
  end

  def test_inherited_sockets_are_refused
    inheriting = ["sh", "-c", 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', "sh"]
    text, status = Open3.capture2e(OpalProcess.environment, *inheriting, *OpalProcess.command("up_node", HELLO))
    sentence = "a server on a JavaScript runtime cannot serve on inherited sockets; remove the .socket unit, or use upwell"
    assert_equal ["up_node: #{sentence}\n", 1], [text, status.exitstatus]
  end

  def test_what_is_missing_is_told_with_what_installs_it
    Dir.mktmpdir do |folder|
      rackup = File.join(folder, "config.ru")
      File.write(rackup, "")
      nothing = { "PATH" => folder, "NODE_PATH" => nil }
      assert_match(/\Aup_node: node is not on the PATH; install it: .+\n\z/, call("up_node", rackup, environment: nothing).first)
      text, status = call("up_bun", rackup, environment: nothing)
      assert_match(/\Aup_bun: bun was not found in a node_modules of #{folder} or a directory above, or .+: npm install bun\n\z/, text)
      assert_equal 1, status
    end
  end

  def test_without_the_gem_opal
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "node"), "#!/bin/sh\necho v20.0.0\n")
      File.chmod(0o755, File.join(folder, "node"))
      rackup = File.join(folder, "config.ru")
      File.write(rackup, "")
      environment = without_gems(folder)
      missing = "the gem opal, which compiles the application, is not installed; "
      assert_equal ["up_node: #{missing}install it: gem install opal -v \"~> 1.8\"\n", 1], call("up_node", rackup, environment: environment)
      File.write(File.join(folder, "Gemfile"), "")
      in_gemfile = "#{missing}install it in #{folder}: bundle add opal --version \"~> 1.8\"\n"
      assert_equal ["up_node: #{in_gemfile}", 1], call("up_node", rackup, environment: environment)
      assert_equal ["upwell opal build: #{in_gemfile}", 1],
                   call("upwell", "opal", "build", "-o", "#{folder}/app.js", rackup, environment: environment)
    end
  end

  # The first start has an empty cache. Of those with the user's cache another test may have made the first.
  def test_a_first_start_that_takes_long_tells_how_far_it_is
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "node"), "#!/bin/sh\necho v20.0.0\n")
      File.chmod(0o755, File.join(folder, "node"))
      progress = /^up_node: the first start compiles the application to JavaScript: \d+ files so far, last \S+$/
      assert_match(progress, first_line("up_node", HELLO, environment: { "PATH" => folder, "XDG_CACHE_HOME" => folder }))
      _, again = Array.new(2) { call("up_node", HELLO, environment: { "PATH" => folder }) }
      refute_match(progress, again.first)
    end
  end

  def test_a_configuration_file_shared_with_the_core
    Dir.mktmpdir do |folder|
      FileUtils.mkdir_p(File.join(folder, "config"))
      File.write(File.join(folder, "config", "upwell.rb"), "mode 'inline'\n")
      text, status = call("up_bun", HELLO, "-p", "70000", chdir: folder)
      assert_equal 1, status
      assert_match(/got "70000"/, text)
      text, = call("up_node", HELLO, environment: { "PATH" => folder }, chdir: folder)
      assert_match(%r{\Aup_node: configuration file config/upwell\.rb: JavaScript runtimes ignore the settings mode\n}, text)
    end
  end

  private

  # The command is ended then.
  def first_line(name, *arguments, environment: {})
    Open3.popen2e(OpalProcess.environment(environment), *OpalProcess.command(name, *arguments)) do |_input, output, process|
      output.gets.tap { Process.kill(:KILL, process.pid) }
    end
  end

  def without_gems(folder)
    { "PATH" => folder, "GEM_HOME" => folder, "GEM_PATH" => folder, "RUBYOPT" => nil, "RUBYLIB" => nil, "BUNDLE_GEMFILE" => nil,
      "BUNDLER_SETUP" => nil, "XDG_CACHE_HOME" => folder, "HOME" => folder }
  end
end
