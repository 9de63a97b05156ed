# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"
require_relative "../support/opal_program_fixture"
require "net/http"
require "open3"
require "tmpdir"

# `upwell opal build`: what it writes serves where there is no Ruby, and takes the folder it lies in for the application's.
class OpalBuildTest < Minitest::Test
  include OpalRuntimes
  include OpalProgramFixture

  ROOT = File.expand_path("../..", __dir__)
  APP = <<~RUBY
    require_relative "lib/greeting"
    run ->(env) { [200, { "content-type" => "text/plain" }, [Greeting.text, File.read(File.join(__dir__, "data.txt"))]] }
  RUBY

  def setup
    super
    write("config.ru", APP)
    write("lib/greeting.rb", "module Greeting\n  def self.text = \"good \"\nend\n")
    write("data.txt", "day")
  end

  def build(*arguments)
    environment = { **OpalProcess.environment, "BUNDLE_GEMFILE" => nil }
    Open3.capture2e(environment, RbConfig.ruby, "-I#{ROOT}/lib", "#{ROOT}/exe/upwell", "opal", "build", *arguments, chdir: @folder)
  end

  OpalProcess::RUNTIMES.each do |command, runtime|
    define_method(:"test_the_file_serves_in_another_folder_without_ruby_on_#{runtime}") do
      need(command)
      text, status = build("-o", "app.js", "--runtime", runtime.to_s)
      assert_predicate status, :success?, text
      assert_match(/\Aapp\.js runs with: #{runtime == :bun ? "bun" : "node"} app\.js(?:;.*)?\n\z/, text)
      Dir.mktmpdir do |elsewhere|
        FileUtils.cp([File.join(@folder, "app.js"), File.join(@folder, "data.txt")], elsewhere)
        File.symlink(File.join(ROOT, "node_modules"), File.join(elsewhere, "node_modules"))
        assert_equal "good day", answer_of(elsewhere, runtime)
      end
    end
  end

  # Whoever may write beside it must not have what he writes run.
  def test_it_keeps_nothing_of_what_it_evaluates_beside_itself
    need("up_node")
    write("config.ru", "Object.class_eval(\"def kept\#{1} = 'evaluated'\")\nrun ->(env) { [200, {}, [kept1]] }\n")
    build("-o", "app.js")
    before = Dir.children(@folder).sort
    assert_equal "evaluated", answer_of(@folder)
    assert_equal before, Dir.children(@folder).sort
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

  # What raises there is Opal's: the application's line comes first.
  def test_a_backtrace_begins_where_the_application_is_wrong
    need("up_node")
    write("config.ru", <<~RUBY)
      class Wrong
        def of_nil = nil.none
        def own = none
        def own_with_an_argument = none(1)
        def in_a_block = [1].each { |one| one.none }
        def zero(divisor = 0) = 1 / divisor
        def called = caller.first[/config.ru.*/]
        def located = caller_locations(1, 1).first.lineno
      end
      def first(name)
        Wrong.new.public_send(name)
      rescue => e
        e.backtrace.first
      end
      names = %i[of_nil own own_with_an_argument in_a_block zero]
      run ->(env) { [200, {}, [*names.map { |name| first(name)[/config.ru.*/] + " " }, Wrong.new.called, " ", Wrong.new.located.to_s]] }
    RUBY
    build("-o", "app.js")
    expected = ["2:in `of_nil'", "3:in `own'", "4:in `own_with_an_argument'", "5:in `block'", "6:in `zero'", "16:in `block'"]
    assert_equal [*expected.map { |frame| "config.ru:#{frame}" }, "16"].join(" "), answer_of(@folder)
  end

  def test_what_is_wrong_is_told
    assert_includes build.first, "name the output file: -o app.js"
    assert_includes build("-o", "no/app.js").first, "no/app.js cannot be written"
    write("config.ru", "run ->(env) {\n  )\n}\n")
    assert_match(%r{~/config.ru:2 cannot be compiled to JavaScript: unexpected token tRPAREN}, build("-o", "app.js").first)
  end

  private

  def answer_of(folder, runtime = :node)
    environment = { "PATH" => "/nowhere" }
    path = Upwell::Opal::Runtime.find(runtime, ROOT).path
    Open3.popen2e(environment, path, "app.js", "-p", "0", "-b", "127.0.0.1", chdir: folder) do |_input, output, process|
      port = output.gets[/:(\d+)/, 1]
      answer = Net::HTTP.get("127.0.0.1", "/", port.to_i)
      Process.kill(:TERM, process.pid)
      assert_equal 0, process.value.exitstatus, output.read
      answer
    ensure
      Process.kill(:KILL, process.pid) if process.alive?
    end
  end
end
