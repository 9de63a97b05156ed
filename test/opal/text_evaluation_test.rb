# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"
require "upwell/opal/program"

# Texts that are evaluated while the program runs: the first start compiles them, and the next ones do without the compiler.
class OpalTextEvaluationTest < Minitest::Test
  include OpalRuntimes

  APP = File.join(__dir__, "support", "text_evaluation.ru")
  SECONDS_MAX = 60

  OpalProcess::RUNTIMES.each_key do |command|
    define_method(:"test_the_compiler_is_not_loaded_again_by_#{command}") do
      start_anew(command)
      assert_equal "two by the compiler", answer(command)
      assert_equal "two", answer(command)
    end
  end

  OpalProcess::RUNTIMES.each_key do |command|
    define_method(:"test_a_backtrace_names_the_line_of_a_text_by_#{command}") do
      need(command)
      OpalProcess.open(command, app: APP) do |server|
        %w[instance binding class].each { |way| assert_equal "page.erb:12", RawClient.get(server.port, "/wrong/#{way}").body, way }
      end
    end
  end

  def test_what_is_half_written_is_compiled_again
    start_anew("up_node")
    answer("up_node")
    File.truncate(@kept, File.size(@kept) / 2)
    assert_equal "two by the compiler", answer("up_node")
    assert_equal "two", answer("up_node")
  end

  def test_what_cannot_be_written_is_compiled_at_each_start
    start_anew("up_node")
    FileUtils.mkdir(@kept) # nothing takes its place
    2.times { assert_equal "two by the compiler", answer("up_node") }
    assert_empty Dir["#{@kept}.*"]
  ensure
    FileUtils.rm_rf(@kept) if @kept
  end

  def test_what_requests_evaluate_is_not_kept
    start_anew("up_node")
    answer("up_node")
    before = File.read(@kept)
    assert_equal "late", answer("up_node", "/late")
    assert_equal before, File.read(@kept)
  end

  # Each container has a process of that number.
  def test_what_another_process_of_the_same_number_writes_is_its_own
    start_anew("up_node")
    other = "#{@kept}.1"
    File.write(other, "half")
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "first.js"), "Object.defineProperty(process, \"pid\", { value: 1 });")
      answer("up_node", environment: { "NODE_OPTIONS" => "--require #{folder}/first.js" })
    end
    assert_equal "half", File.read(other)
    assert_path_exists @kept
  ensure
    FileUtils.rm_f(other) if other
  end

  # It says so in no way that the compiler understands.
  def test_a_program_without_a_compiler_tells_how_it_gets_one
    need("up_node")
    ["class A\n  send(:class_eval, 'def a = 1')\nend\nrun A\n", "send(:eval, '1')\nrun A\n",
     "Rack::Builder.new_from_string('run A')\n"].each do |source|
      text = failed_start(source)
      assert_match(/no compiler for it: add to config.ru: require "upwell\/evaluation" if .* \(Upwell::Evaluation::NoCompiler\)/, text, source)
    end
  end

  # Rack::Builder has an eval, and every program has Rack. Redis evaluates Lua.
  def test_a_program_that_evaluates_no_text_has_no_compiler
    [["run Rack::Lobster\n", false], ["run redis.eval('return 1')\n", false], ["run eval('A')\n", true],
     ["run binding.eval('A')\n", true], ["run Kernel.eval('A')\n", true], ["class_eval('A')\n", true]].each do |source, expected|
      assert_equal expected, with_compiler?(source), source
    end
  end

  private

  def with_compiler?(source)
    in_folder(source) { |path| File.read(Upwell::Opal::Program.new(path, :node).path).include?("Opal.modules[\"opal/compiler\"]") }
  end

  # @return [String] what the program says, which ends by itself
  def failed_start(source)
    in_folder(source) do |path|
      Open3.popen2e(OpalProcess.environment, *OpalProcess.command("up_node", "-p", "0", path)) do |_input, output, process|
        ended = process.join(SECONDS_MAX)
        Process.kill(:KILL, process.pid) unless ended
        text = output.read
        assert ended, "the program of #{source.inspect} serves after #{SECONDS_MAX} s:\n#{text}"
        text
      end
    end
  end

  def in_folder(source)
    Dir.mktmpdir do |folder|
      path = File.join(folder, "config.ru")
      File.write(path, source)
      yield path
    end
  end

  def start_anew(command)
    need(command)
    @kept = "#{Upwell::Opal::Program.new(APP, OpalProcess::RUNTIMES.fetch(command)).path}.evaluated"
    FileUtils.rm_rf(@kept)
  end

  def answer(command, path = "/", **options)
    OpalProcess.open(command, app: APP, **options) do |server|
      RawClient.get(server.port, path).body.tap { server.stop }
    end
  end
end
