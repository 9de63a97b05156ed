# frozen_string_literal: true

require_relative "../test_helper"
require "open3"
require "rbconfig"
require "tmpdir"

# `require "upwell"` where the extension cannot be loaded: in a process of its own.
class WithoutExtensionTest < Minitest::Test
  LIB = File.expand_path("../../lib", __dir__)
  PROGRAM = <<~RUBY
    require "upwell"
    loop = Upwell::Loop.new
    loop.emit(:event)
    selector = Upwell::Selector.new
    selector.register($stdout, IO::WRITABLE)
    names = Upwell.backends.map { |backend| backend[:name] }
    error = begin
      Upwell::Reactor.new(nil, {})
    rescue Upwell::Error => e
      e.message
    end
    woken = false
    Thread.new do
      Fiber.set_scheduler(Upwell::Scheduler.new)
      Fiber.schedule { sleep(0.001) && woken = true }
    end.join
    raise "the scheduler has not woken its fiber" unless woken
    p [names, loop.backend, loop.next_event, selector.wait.size, error, Upwell.processors.positive?]
  RUBY

  def test_on_request
    assert_pure(/UPWELL_PURE is set/, LIB, { "UPWELL_PURE" => "1" })
  end

  def test_when_there_is_none
    in_a_copy_without do |folder|
      assert_pure(%r{cannot load such file -- upwell/upwell.*install a C compiler}, folder, { "UPWELL_PURE" => nil })
    end
  end

  def test_when_there_is_one_for_another_ruby_alone
    in_a_copy_without do |folder|
      FileUtils.mkdir_p(File.join(folder, "upwell/9.9"))
      FileUtils.touch(File.join(folder, "upwell/9.9/upwell.so"))
      assert_pure(%r{cannot load such file -- upwell/upwell.*the gem has none for Ruby #{RUBY_VERSION}}, folder, { "UPWELL_PURE" => nil })
    end
  end

  def test_when_what_there_is_cannot_be_loaded
    in_a_copy_without do |folder|
      FileUtils.touch(File.join(folder, "upwell/upwell.#{RbConfig::CONFIG["DLEXT"]}"))
      assert_pure(%r{#{folder}/upwell/upwell\.\w+.*install what is missing, or compile the gem here \(gem uninstall -ax upwell; gem install},
                  folder, { "UPWELL_PURE" => nil })
    end
  end

  def test_the_commands_say_what_is_missing
    Dir.mktmpdir do |folder|
      File.write(rackup_file = File.join(folder, "config.ru"), "run ->(_env) { [200, {}, []] }")
      [["static", folder], [rackup_file], ["--workers", "2", rackup_file]].each do |arguments|
        output, status = command(*arguments, "--port", "0")
        assert_equal 1, status.exitstatus, output
        assert_match(/\Aupwell.*: the server needs the C extension, which .* \(UPWELL_PURE is set\): unset UPWELL_PURE\n\z/, output)
      end
    end
  end

  def test_check
    output, status = command("--check")
    assert_predicate status, :success?, output
    assert_match(/^  extension +not loaded: UPWELL_PURE is set$/, output)
    assert_match(/^  select +works$/, output)
  end

  # The tests of loop, selector and scheduler and of what is counted, in a process where all are those in Ruby.
  def test_loop_selector_scheduler_and_what_is_counted
    files = Dir[File.join(__dir__, "{scheduler/*,loop,selector,stats}_test.rb")]
    output, status = Open3.capture2e({ "UPWELL_PURE" => "1", "UPWELL_BACKEND" => nil }, RbConfig.ruby, "-I", LIB,
                                     "-e", "ARGV.each { |file| require file }", *files)
    assert_predicate status, :success?, output
    assert_match(/^[1-9]\d+ runs, [1-9]\d+ assertions, 0 failures, 0 errors, \d+ skips$/, output)
  end

  # Each call fails as with the extension, if it does.
  def test_arguments_of_wrong_types
    program = File.expand_path("../support/wrong_argument_types.rb", __dir__)
    with, without = [nil, "1"].map do |pure|
      Open3.capture2(environment(pure), RbConfig.ruby, "-I", LIB, program).first.lines
    end
    assert_operator with.size, :>, 200
    assert_empty with.zip(without).reject { |one, other| one == other }
  end

  # As Ruby 4.1 tells that it asks otherwise.
  def test_hooks_whose_arguments_have_changed
    output, status = Open3.capture2e(environment, RbConfig.ruby, "-I", LIB, "-e", <<~RUBY)
      IO::Buffer.const_set(:VERSION, 3)
      require "upwell"
      p %i[io_read io_write io_wait].select { |hook| Upwell::Scheduler.method_defined?(hook) }
      reader, writer = IO.pipe
      Fiber.set_scheduler(Upwell::Scheduler.new)
      Fiber.schedule { p reader.read }
      Fiber.schedule { writer.write("x" * 5) && sleep(0.001) && writer.close }
    RUBY
    assert_predicate status, :success?, output
    assert_equal "[:io_wait]\n\"xxxxx\"\n", output
  end

  # What another thread raises comes at any moment.
  def test_what_is_raised_before_a_fiber_goes_on_ends_no_process
    output, status = Open3.capture2e(environment, RbConfig.ruby, "-I", LIB, "-e", <<~RUBY)
      require "upwell"
      Fiber.set_scheduler(Upwell::Scheduler.new)
      Fiber.schedule { sleep 0.01 }
      raising = TracePoint.new(:c_return) do |call|
        Thread.current.raise(EOFError) if call.method_id == :pid && call.path.end_with?("forked_child_exit.rb") && raising.disable
      end
      begin
        raising.enable
        Fiber.scheduler.run
      rescue EOFError => e
        $stdout.syswrite(e.message)
      end
      exit!(true)
    RUBY
    assert_equal ["EOFError", true], [output, status.success?]
  end

  # While those are forgotten that nobody refers to any more.
  def test_schedulers_that_are_made_at_once_are_all_told_of_a_close
    output, = Open3.capture2e(environment, RbConfig.ruby, "-I", LIB, "-e", <<~RUBY)
      require "upwell"
      WeakRef.prepend(Module.new { def weakref_alive? = Thread.pass || super })
      def make = Fiber.set_scheduler(Upwell::Scheduler.new)

      waiting = Thread::Queue.new
      threads = Array.new(8) do
        Thread.new do
          20.times { Thread.new { make && nil }.join && GC.start }
          reader, _writer = IO.pipe
          make
          Fiber.schedule { Fiber.scheduler.io_wait(reader, IO::READABLE, nil) rescue Thread.current[:told] = true }
          Fiber.schedule { waiting << reader }
          Fiber.scheduler.run
          nil
        end
      end
      threads.size.times { waiting.pop.close }
      $stdout.syswrite(threads.count { |thread| thread.join(60) }.to_s)
      exit!
    RUBY
    assert_equal "8", output
  end

  private

  def in_a_copy_without
    Dir.mktmpdir do |folder|
      FileUtils.cp_r(Dir[File.join(LIB, "*")], folder)
      FileUtils.rm_f(Dir[File.join(folder, "**", "*.{so,bundle}")])
      yield folder
    end
  end

  def command(*arguments)
    Open3.capture2e(environment, RbConfig.ruby, "-I", LIB, File.expand_path("../../exe/upwell", __dir__), *arguments)
  end

  def environment(pure = "1")
    BundleGemPaths.environment_without_rubygems("UPWELL_PURE" => pure, "UPWELL_BACKEND" => nil)
  end

  def assert_pure(reason, lib, environment)
    output, status = Open3.capture2e({ "UPWELL_BACKEND" => nil, "RUBYOPT" => nil, **environment }, RbConfig.ruby, "--disable-gems",
                                     "-I", lib, "-e", PROGRAM)
    assert_predicate status, :success?, output
    assert_match(/\A\[\["select"\], "select", :event, 1, ".*#{reason}.*", true\]\Z/, output)
  end
end
