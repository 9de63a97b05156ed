# frozen_string_literal: true

require_relative "../../test_helper"
require "open3"
require "upwell/opal/runtime"

# What is missing on a machine is told with the command that installs it.
class OpalRuntimeTest < Minitest::Test
  def setup
    @folder = File.realpath(Dir.mktmpdir)
    @bin = File.join(@folder, "bin")
    @app = File.join(@folder, "app")
    FileUtils.mkdir_p([@bin, @app])
    put("bin/npm", "")
  end

  def teardown
    FileUtils.rm_rf(@folder)
  end

  def put(path, text)
    file = File.join(@folder, path)
    FileUtils.mkdir_p(File.dirname(file))
    File.write(file, text)
    File.chmod(0o755, file)
    file
  end

  def put_version(path, version)
    put(path, "#!/bin/sh\necho #{version}\n")
  end

  def find(name, node_path: "")
    Upwell::Opal::Runtime.find(name, @app, { "PATH" => @bin, "NODE_PATH" => node_path })
  end

  def refusal(name)
    assert_raises(Upwell::ConfigurationError) { find(name) }.message
  end

  def test_node_on_the_path
    node = put_version("bin/node", "v20.1.0")
    assert_equal node, find(:node).path
  end

  def test_nodejs_as_debian_once_called_it
    node = put_version("bin/nodejs", "v22.0.0")
    assert_equal node, find(:node).path
  end

  def test_no_node
    put("bin/apt-get", "")
    assert_equal "node is not on the PATH; install it: apt-get install nodejs npm", refusal(:node)
  end

  def test_an_old_node
    node = put_version("bin/node", "v18.20.4")
    assert_equal "#{node} is node 18.20.4, but the server needs 20 or newer; install it in #{@app}: npm install node@22", refusal(:node)
  end

  def test_node_of_the_application_before_that_of_the_path
    put_version("bin/node", "v18.20.4")
    own = put_version("app/node_modules/node/bin/node", "v22.1.0")
    assert_equal own, find(:node).path
  end

  def test_an_old_package
    put_version("bin/node", "v20.1.0")
    file = put("app/node_modules/uwebsockets/package.json", '{"version": "2.9.0"}')
    assert_equal "#{file} has the version 2.9.0, but the server needs 3 or newer; install it in #{@app}: npm install uwebsockets@latest",
                 refusal(:uwebsockets)
  end

  def test_a_node_that_does_not_run
    node = put("bin/node", "#!/bin/sh\necho no such library\nexit 127\n")
    assert_equal "#{node} --version fails: no such library; install the program again", refusal(:node)
  end

  def test_uwebsockets_needs_node
    put("app/node_modules/uwebsockets/package.json", '{"version": "3.0.6"}')
    assert_match(/\Anode is not on the PATH/, refusal(:uwebsockets))
  end

  def test_no_uwebsockets
    put_version("bin/node", "v20.1.0")
    assert_equal "uWebSockets.js was not found in a node_modules of #{@app} or a directory above, or in NODE_PATH; " \
                 "install it in #{@app}: npm install uwebsockets", refusal(:uwebsockets)
  end

  def test_uwebsockets_of_a_folder_above_and_of_node_path
    node = put_version("bin/node", "v20.1.0")
    put("elsewhere/uWebSockets.js/package.json", '{"version": "20.52.0"}')
    assert_equal node, find(:uwebsockets, node_path: File.join(@folder, "elsewhere")).path
    put("node_modules/uwebsockets/package.json", '{"version": "3.0.6"}')
    assert_equal node, find(:uwebsockets).path
  end

  def test_an_old_uwebsockets
    put_version("bin/node", "v20.1.0")
    file = put("app/node_modules/uWebSockets.js/package.json", '{"version": "19.5.0"}')
    assert_equal "#{file} has the version 19.5.0, but the server needs 20 or newer; " \
                 "install it in #{@app}: npm install uNetworking/uWebSockets.js#v20.52.0",
                 refusal(:uwebsockets)
  end

  def test_bun_of_the_application_before_that_of_the_path
    put_version("bin/bun", "1.3.0")
    own = put_version("app/node_modules/@oven/bun-linux-x64/bin/bun", "1.4.5")
    put("app/node_modules/@oven/bun-darwin-aarch64/bin/bun", "#!/bin/sh\nexit 1\n")
    assert_equal own, find(:bun).path
    FileUtils.rm(own)
    assert_equal File.join(@bin, "bun"), find(:bun).path
  end

  def test_bun_that_its_install_script_has_moved
    moved = put_version("app/node_modules/bun/bin/bun.exe", "1.4.5")
    assert_equal moved, find(:bun).path
  end

  def test_bun_whose_install_script_has_not_run
    put("app/node_modules/bun/bin/bun.exe", "echo 'the install script was not run' >&2\nexit 1\n")
    own = put_version("app/node_modules/@oven/bun-linux-x64/bin/bun", "1.4.5")
    assert_equal own, find(:bun).path
  end

  # The commands that the sentences name, as a user runs them.
  %i[bun uwebsockets].each do |name|
    define_method(:"test_what_is_missing_of_#{name}_is_there_after_the_command_of_its_sentence") do
      skip "npm is not on the PATH" unless npm?
      put_version("bin/node", "v20.1.0") if name == :uwebsockets
      folder, command = refusal(name).match(/install it in (.+): (npm install .+)\z/).captures
      output, status = Open3.capture2e("#{command} --prefer-offline --no-audit --no-fund", chdir: folder)
      assert_predicate status, :success?, output
      assert find(name).path
    end
  end

  # Its own answer would take longer than most of the tests.
  def npm?
    ENV.fetch("PATH").split(File::PATH_SEPARATOR).any? { |folder| File.executable?(File.join(folder, "npm")) }
  end

  def test_no_bun
    assert_equal "bun was not found in a node_modules of #{@app} or a directory above, or on the PATH; install it in #{@app}: npm install bun",
                 refusal(:bun)
  end

  def test_an_old_bun
    bun = put_version("bin/bun", "1.1.9")
    assert_equal "#{bun} is bun 1.1.9, but the server needs 1.2 or newer; install it in #{@app}: npm install bun@latest", refusal(:bun)
  end

  def test_no_npm
    FileUtils.rm(File.join(@bin, "npm"))
    put("bin/apt-get", "")
    assert_match(/; install npm \(apt-get install nodejs npm\), and then in #{@app}: npm install bun\z/, refusal(:bun))
  end
end
