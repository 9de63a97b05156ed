# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"
require "net/http"
require "open3"
require "tmpdir"

# `upwell opal build`: what it writes serves where there is no Ruby, and takes the folder it lies in for the application's.
class OpalBuildTest < Minitest::Test
  include OpalRuntimes

  ROOT = File.expand_path("../..", __dir__)
  APP = <<~RUBY
    require_relative "lib/greeting"
    run ->(env) { [200, { "content-type" => "text/plain" }, [Greeting.text, File.read(File.join(__dir__, "data.txt"))]] }
  RUBY

  def setup
    @folder = Dir.mktmpdir
    write("config.ru", APP)
    write("lib/greeting.rb", "module Greeting\n  def self.text = \"good \"\nend\n")
    write("data.txt", "day")
  end

  def teardown
    FileUtils.rm_rf(@folder)
  end

  def write(name, text)
    path = File.join(@folder, name)
    FileUtils.mkdir_p(File.dirname(path))
    File.write(path, text)
  end

  def build(*arguments)
    Open3.capture2e(RbConfig.ruby, File.join(ROOT, "exe/upwell"), "opal", "build", *arguments, chdir: @folder)
  end

  def test_the_file_serves_in_another_folder_without_ruby
    need("up_node")
    text, status = build("-o", "app.js")
    assert_predicate status, :success?, text
    assert_equal "app.js runs with: node app.js\n", text
    Dir.mktmpdir do |elsewhere|
      FileUtils.cp([File.join(@folder, "app.js"), File.join(@folder, "data.txt")], elsewhere)
      assert_equal "good day", answer_of(elsewhere)
    end
  end

  def test_a_backtrace_names_ruby_s_files_and_lines
    need("up_node")
    write("lib/greeting.rb", "module Greeting\n  def self.text\n    raise ArgumentError, \"no\"\n  end\nend\n")
    write("config.ru", <<~RUBY)
      require_relative "lib/greeting"
      run(lambda do |env|
        Greeting.text
      rescue => e
        [200, {}, [e.backtrace.first(2).join(" ")]]
      end)
    RUBY
    build("-o", "app.js")
    folder = File.realpath(@folder)
    assert_equal "#{folder}/lib/greeting.rb:3:in `text' #{folder}/config.ru:3:in `block'", answer_of(folder)
  end

  def test_what_is_wrong_is_told
    assert_includes build.first, "name the file that shall be written: -o app.js"
    assert_includes build("-o", "no/app.js").first, "no/app.js cannot be written"
    write("config.ru", "run ->(env) {\n  )\n}\n")
    assert_match(%r{~/config.ru:2 cannot be compiled to JavaScript: unexpected token tRPAREN}, build("-o", "app.js").first)
  end

  private

  def answer_of(folder)
    environment = { "PATH" => "/nowhere" }
    Open3.popen2e(environment, `which node`.strip, "app.js", "-p", "0", "-b", "127.0.0.1", chdir: folder) do |_input, output, process|
      port = output.gets[/:(\d+)/, 1]
      Net::HTTP.get("127.0.0.1", "/", port.to_i)
    ensure
      Process.kill(:TERM, process.pid)
    end
  end
end
