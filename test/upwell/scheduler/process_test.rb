# frozen_string_literal: true

require "English"
require_relative "../../test_helper"
require_relative "../../support/under_each_scheduler"

class SchedulerProcessTest < Minitest::Test
  include UnderEachScheduler

  READING_ALL = [RbConfig.ruby, "--disable-gems", "-e", "$stdin.read"].freeze

  # All but the last end when that one has.
  def test_children_run_side_by_side
    on_every_backend do
      reader, writer = IO.pipe
      4.times { Fiber.schedule { assert system(*READING_ALL, in: reader) } }
      Fiber.schedule { assert(system(*sleeping(0.01))) && writer.close }
    end
  end

  def test_what_is_known_of_a_child
    on_every_backend do
      Fiber.schedule do
        assert_equal "out\n", `echo out`
        assert_predicate $CHILD_STATUS, :success?
        refute system("exit 3")
        assert_equal 3, $CHILD_STATUS.exitstatus
        pid = Process.spawn("exit 4")
        assert_equal pid, Process.wait(pid)
        assert_equal 4, $CHILD_STATUS.exitstatus
        assert_raises(Errno::ECHILD) { Process.wait(pid) }
      end
    end
  end

  def test_a_child_that_a_signal_ends
    skip_on_windows "it has no such status"
    on_every_backend do
      Fiber.schedule do
        pid = Process.spawn("kill -TERM $$")
        assert_equal pid, Process.wait(pid)
        assert_equal Signal.list["TERM"], $CHILD_STATUS.termsig
      end
    end
  end

  POPENS = [
    ["echo $NAME", "r", { err: %i[child out] }], [{ "NAME" => "value" }, "echo $NAME"], [["echo", "array"]],
    [[{ "NAME" => "value" }, "sh", "-c", "echo $NAME"]], ["exit 3"], ["echo mode", "rb"], ["echo mode", { mode: "r" }],
    ["cat", "r+", { external_encoding: "iso-8859-1" }], ["no-such-command-here"], [], [1, 2, 3]
  ].freeze
  READ_ALL = lambda do |io|
    io.close_write if io.external_encoding == Encoding::ISO_8859_1 # cat
    io.read
  end

  # Where a small module is before IO's own methods.
  def test_the_forms_of_popen
    skip_on_windows "it has no Unix shell"
    on_every_backend do |scheduler|
      POPENS.each do |arguments|
        Fiber.schedule { assert_equal outcome_of_popen(arguments), outcome_of_popen(arguments, &READ_ALL), arguments.inspect }
        scheduler.run
      end
    end
  end

  def test_options_of_popen
    skip_on_windows "a child is given no descriptors beyond the first three"
    on_every_backend do
      reader, writer = IO.pipe
      Fiber.schedule do
        assert_equal "", IO.popen("echo to three >&3", 3 => writer, &:read)
        assert_equal "to three\n", reader.gets
        read = ->(io) { [io.external_encoding, io.read] }
        assert_equal [Encoding::US_ASCII, "value\n"],
                     IO.popen({ "NAME" => "value" }, "echo $NAME", mode: "r", external_encoding: "ascii", &read)
        assert_equal "closed", IO.popen("exit 5") { |io| io.close || "closed" }
        assert_equal 5, $CHILD_STATUS.exitstatus
      end
    end
  end

  WAYS_OUT = {
    "break" => ->(opened) { IO.popen("exit 6") { |io| break opened << io } },
    "throw" => ->(opened) { catch(:way) { IO.popen("exit 6") { |io| throw :way, opened << io } } },
    "raise" => ->(opened) { IO.popen("exit 6") { |io| raise opened.push(io).size.to_s } rescue $ERROR_INFO }, # rubocop:disable Style/RescueModifier
    "next" => ->(opened) { IO.popen("exit 6") { |io| next opened << io } }
  }.freeze

  def test_ways_out_of_a_block_of_popen
    on_every_backend do
      Fiber.schedule do
        WAYS_OUT.each do |name, way|
          value = way.call(opened = [])
          assert_equal [name == "raise" ? "1" : opened, true, 6],
                       [name == "raise" ? value.message : value, opened.first.closed?, $CHILD_STATUS.exitstatus]
        end
      end
    end
  end

  # Of a class of its own, which closes otherwise.
  def test_popen_of_a_class
    own = Class.new(IO) { def close = raise("not asked") }
    on_every_backend { Fiber.schedule { assert_equal [own, "out\n"], own.popen("echo out") { |io| [io.class, io.read] } } }
  end

  def test_a_block_of_popen_in_a_child
    skip_without_fork
    on_every_backend do
      Fiber.schedule do
        assert_equal "in the child", IO.popen("-") { |io| io ? io.read : $stdout.write("in the child") }
        assert_predicate $CHILD_STATUS, :success?
        io = IO.popen("-") or exit!($stdout.syswrite("without a block").positive?)
        assert_equal "without a block", io.read
        io.close
        assert_predicate $CHILD_STATUS, :success?
      end
    end
  end

  # In a new process: this process may have children that earlier tests started.
  def test_any_child
    skip_without_fork
    BACKENDS.each do |backend|
      process = fork { exit!(found_by_any?(backend)) }
      assert_predicate Process.wait2(process).last, :success?, backend
    end
  end

  def found_by_any?(backend)
    found = nil
    scheduled(backend) do
      Fiber.schedule do
        child = Process.spawn(*sleeping(0.01))
        found = Process.wait(-1) == child
      end
    end
    found
  end

  def test_a_process_that_is_no_child
    on_every_backend do
      Fiber.schedule { Timeout.timeout(PATIENCE / 2) { assert_raises(Errno::ECHILD) { Process.wait(Process.pid) } } }
    end
  end

  def test_a_thread_that_is_killed_meanwhile_leaves_no_descriptor
    skip_on_windows "it does not list descriptors"
    BACKENDS.each do |backend|
      pids = Array.new(5) { Process.spawn(*sleeping(100)) }
      pids.each { |pid| kill_one_that_waits_for(pid, backend) }
      await_collected { descriptors_of_processes.zero? }
    ensure
      pids.each { |pid| Process.kill("KILL", pid) }
      pids.each { |pid| wait_for_one_perhaps_waited_for(pid) }
    end
  end

  def test_a_thread_that_is_killed_meanwhile_takes_no_status
    BACKENDS.each do |backend|
      other = Process.spawn(*sleeping(100))
      kill_one_that_waits_for(-1, backend)
      20.times { assert_equal((pid = ended_child), Process.wait(pid)) }
    ensure
      Process.kill("KILL", other) && Process.wait(other)
    end
  end

  def test_a_child_when_no_descriptor_is_left
    skip_on_windows "it has no limits of resources"
    limits = Process.getrlimit(:NOFILE)
    on_every_backend do
      Fiber.schedule do
        pid = Process.spawn("sleep 0.05")
        held = take_all_descriptors(limits)
        assert_equal pid, Process.wait(pid)
        held.each(&:close)
      end
      Fiber.scheduler.run
      Process.setrlimit(:NOFILE, *limits)
    end
  ensure
    Process.setrlimit(:NOFILE, *limits) if limits
  end

  def test_a_wait_that_is_given_up
    on_every_backend do
      Fiber.schedule do
        pid = Process.spawn(*sleeping(10))
        assert_raises(Timeout::Error) { Timeout.timeout(0.01) { Process.wait(pid) } }
        Process.kill(:KILL, pid)
        assert_equal pid, Process.wait(pid)
      end
    end
  end

  def test_the_child_of_a_fork_has_a_loop_of_its_own
    skip_without_fork
    on_every_backend do
      reader, writer = IO.pipe
      Fiber.schedule do
        Timeout.timeout(PATIENCE / 2) do
          pid = fork { in_child(reader, writer) }
          writer.close
          assert_equal "slept 1", reader.read
          Process.wait(pid)
          assert_predicate $CHILD_STATUS, :success?
        end
      end
      Fiber.schedule { 5.times { sleep(0.005) } }
    end
  end

  # It closes what it does not need, and ends by exit: that is no end for the fibers that wait in its parent.
  def test_the_child_of_a_fork_leaves_the_fibers_of_its_parent_alone
    skip_without_fork
    on_every_backend do
      reader, writer = IO.pipe
      ended_reader, ended = IO.pipe
      Fiber.schedule { read_and_tell(reader, ended) }
      Fiber.schedule do
        pid = fork { close_and_exit(reader) }
        Process.wait(pid)
        assert_equal 3, $CHILD_STATUS.exitstatus
        writer.write("from the parent")
        assert_equal "#{Process.pid}: from the parent", ended_reader.readpartial(100)
      end
    end
  end

  # What its parent's fibers hold, and wait for, keeps it from nothing that belongs to its end.
  def test_the_child_of_a_fork_ends_while_fibers_of_its_parent_wait_for_a_mutex
    skip_without_fork
    on_every_backend do
      mutex = Mutex.new
      reader, writer = IO.pipe
      Fiber.schedule { mutex.synchronize { sleep(0.2) } }
      Fiber.schedule { mutex.synchronize { nil } }
      Fiber.schedule do
        Process.wait(fork { writer.dup.tap { |out| out.sync = false }.write("at its end") })
        assert_predicate $CHILD_STATUS, :success?
        writer.close
        assert_equal "at its end", reader.read
      end
    end
  end

  def test_names_of_hosts
    on_every_backend do |scheduler|
      Fiber.schedule do
        assert_equal ["127.0.0.1"], scheduler.address_resolve("127.0.0.1")
        assert_equal ["fe80::1%lo"], scheduler.address_resolve("fe80::1%lo")
        assert_includes scheduler.address_resolve("localhost"), "127.0.0.1"
        assert_nil scheduler.address_resolve("no-such-host.invalid")
        assert_equal 80, Addrinfo.tcp("localhost", 80).ip_port
      end
    end
  end

  private

  def outcome_of_popen(arguments, &block)
    output = block ? IO.popen(*arguments, &block) : IO.popen(*arguments).then { |io| READ_ALL.call(io).tap { io.close } }
    [output, output.encoding, $CHILD_STATUS.exitstatus]
  rescue SystemCallError, ArgumentError => e
    [e.class, e.message]
  end

  def kill_one_that_waits_for(pid, backend)
    waits = Thread::Queue.new
    thread = Thread.new do
      Fiber.set_scheduler(Upwell::Scheduler.new(backend: backend))
      Fiber.schedule { Process.wait(pid) }
      waits << true
      Fiber.scheduler.run
    end
    waits.pop
    thread.kill.join
  end

  # Just about now.
  def ended_child
    IO.pipe do |reader, writer|
      pid = Process.spawn(WINDOWS ? "exit 0" : "true", out: writer)
      writer.close
      reader.read
      pid
    end
  end

  # A thread that waits in the place of a killed one's fiber may be first.
  def wait_for_one_perhaps_waited_for(pid)
    Process.wait(pid)
  rescue Errno::ECHILD
    nil
  end

  def descriptors_of_processes
    Dir["/proc/self/fd/*"].count { |path| File.symlink?(path) && File.readlink(path).include?("pidfd") }
  end

  def close_and_exit(io)
    io.close
    exit(3)
  end

  def read_and_tell(reader, ended)
    text = Timeout.timeout(PATIENCE / 2) { reader.readpartial(100) }
  ensure
    ended.write("#{Process.pid}: #{text}")
  end

  def take_all_descriptors(limits)
    held = []
    Process.setrlimit(:NOFILE, Dir.children("/proc/self/fd").map(&:to_i).max + 1, limits.last)
    loop { held << $stderr.dup }
  rescue Errno::EMFILE
    held
  end

  def in_child(reader, writer)
    reader.close
    others = 0
    Fiber.schedule { sleep(0.001) && others += 1 }
    sleep(0.005)
    writer.write("slept #{others}")
    writer.close
    exit!(true)
  end
end
