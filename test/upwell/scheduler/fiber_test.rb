# frozen_string_literal: true

require "English"
require_relative "../../test_helper"
require_relative "../../support/under_each_scheduler"
require_relative "../../support/action_while_thread_waits"

class SchedulerFiberTest < Minitest::Test
  include UnderEachScheduler
  include ActionWhileThreadWaits

  def test_fibers_start_at_once_and_go_on_later
    on_every_backend do |scheduler|
      order = []
      Fiber.schedule do
        order << 1
        Fiber.schedule { order << 2 }
        order << 3
        sleep(0)
        order << 5
      end
      order << 4
      scheduler.run
      assert_equal [1, 2, 3, 4, 5], order
    end
  end

  def test_every_fiber_has_its_turn
    on_every_backend do |scheduler|
      order = []
      %i[a b].each { |name| Fiber.schedule { 3.times { (order << name) && scheduler.yield } } }
      scheduler.run
      assert_equal %i[a b a b a b], order
    end
  end

  def test_an_error_ends_its_fiber_only_and_is_raised_at_the_end
    BACKENDS.each do |backend|
      others = 0
      error = assert_raises(RuntimeError) do
        scheduled(backend) do
          Fiber.schedule { raise "at once" }
          Fiber.schedule { sleep(0.001) && raise("later") }
          Fiber.schedule { sleep(0.005) && others += 1 }
        end
      end
      assert_equal ["at once", 1], [error.message, others]
    end
  end

  def test_an_error_is_reported
    _out, err = capture_subprocess_io do
      system(RbConfig.ruby, "-I#{$LOAD_PATH.first}", "-rupwell", "-e", <<~RUBY)
        Fiber.set_scheduler(Upwell::Scheduler.new)
        Fiber.schedule { sleep(0.001); raise "oops" }
      RUBY
    end
    assert_match(/#<Fiber.* terminated with exception.*oops \(RuntimeError\)/m, err)
    refute $CHILD_STATUS.success?
  end

  def test_the_others_go_on_when_an_error_cannot_be_reported
    silent = Class.new(StandardError) { def message = raise(IOError) }
    BACKENDS.each do |backend|
      reported = StringIO.new
      others = 0
      [reported, IO.pipe.each(&:close).last].each do |stream|
        with_errors_to(stream) do
          scheduled(backend) do |scheduler|
            Fiber.schedule { sleep(0.002) && others += 1 }
            Fiber.schedule { sleep(0.001) && raise(silent) }
            Thread.current.report_on_exception = true
            assert_raises(silent) { scheduler.run }
          end
        end
      end
      assert_equal 2, others, backend
      assert_match(/terminated with exception.*#{silent.inspect}/m, reported.string, backend)
    end
  end

  def with_errors_to(stream)
    before = $stderr
    $stderr = stream
    yield
  ensure
    $stderr = before
  end

  def test_exit_ends_the_process
    system(RbConfig.ruby, "-I#{$LOAD_PATH.first}", "-rupwell", "-e", <<~RUBY)
      Fiber.set_scheduler(Upwell::Scheduler.new)
      Fiber.schedule { sleep }
      Fiber.schedule { sleep(0.001); exit 7 }
    RUBY
    assert_equal 7, $CHILD_STATUS.exitstatus
  end

  def test_an_interrupt_ends_all_and_runs_what_they_ensure
    skip_on_windows "a process sends no signal to another"
    IO.popen([RbConfig.ruby, "-I#{$LOAD_PATH.first}", "-rupwell", "-e", <<~RUBY, { err: File::NULL }]) do |out|
      $stdout.sync = true
      Fiber.set_scheduler(Upwell::Scheduler.new)
      Fiber.schedule { begin; sleep; ensure; sleep(0.001); puts "ensured"; end }
      Fiber.schedule { puts "ready" }
    RUBY
      assert_equal "ready\n", out.gets
      Thread.pass until File.read("/proc/#{out.pid}/stat").match?(/\) S /) # its scheduler waits; before, it may be about to be closed
      Process.kill(:INT, out.pid)
      assert_equal "ensured\n", out.read
    end
    assert_equal Signal.list["INT"], $CHILD_STATUS.termsig
  end

  def test_an_exception_is_raised_into_whatever_waits
    on_every_backend do
      reader, writer = UNIXSocket.pair
      waits = [-> { sleep }, -> { reader.read(1) }, -> { reader.wait_readable }, -> { Thread::Queue.new.pop }]
      fibers = waits.map { |wait| Fiber.schedule { assert_raises(KeyError, &wait) } }
      Fiber.schedule do
        sleep(0.001)
        fibers.each { |fiber| fiber.raise(KeyError) }
        writer.write("x") # which no cancelled read has taken
        assert_equal "x", reader.read(1)
      end
    end
  end

  def test_a_second_exception_while_the_first_is_on_its_way
    on_every_backend do
      reader, = IO.pipe
      fiber = Fiber.schedule { assert_raises(KeyError, IndexError) { reader.read(1) } }
      Fiber.schedule do
        sleep(0.001)
        fiber.raise(KeyError)
        fiber.raise(IndexError) if fiber.alive?
      end
    end
  end

  def test_what_comes_after_an_exception_is_for_the_next_reader
    on_every_backend do
      [IO.pipe, UNIXSocket.pair].each do |reader, writer|
        raised = Fiber.schedule { assert_raises(KeyError) { reader.readpartial(10) } }
        Fiber.schedule do
          raised.raise(KeyError)
          writer << "x"
          assert_equal reader, reader.wait_readable(PATIENCE / 2)
          assert_equal "x", reader.readpartial(10)
        end
      end
    end
  end

  def test_fibers_that_raise_into_each_other
    on_every_backend do |scheduler|
      done = []
      cancelling = nil
      cancelled = Fiber.schedule do
        assert_raises(KeyError) { sleep }
        cancelling.raise(IndexError)
        done << :cancelled
      end
      cancelling = Fiber.schedule do
        sleep(0.001)
        assert_raises(IndexError) { cancelled.raise(KeyError) }
        done << :cancelling
      end
      scheduler.run
      assert_equal %i[cancelled cancelling], done.sort
    end
  end

  def test_fibers_within_fibers
    on_every_backend do
      Fiber.schedule do
        numbers = Enumerator.new { |found| 3.times { |i| sleep(0.001) && (found << i) } }
        assert_equal [0, 1, 2], [numbers.next, numbers.next, numbers.next]
        assert_raises(StopIteration) { numbers.next }
        other = Fiber.new { |x| Fiber.yield(sleep(0.001) && (x + 1)) + 1 }
        assert_equal [2, 4], [other.resume(1), other.resume(3)]
      end
    end
  end

  def test_a_fiber_that_the_main_fiber_resumes
    on_every_backend do
      done = []
      fiber = Fiber.new do
        Fiber.schedule { sleep(0.005) && (done << :scheduled) }
        sleep(0.01)
        done << :resumed
        Fiber.yield
      end
      fiber.resume
      assert_equal %i[scheduled resumed], done
    end
  end

  # Its `ensure` has run by then, whatever it waited for.
  def test_a_fiber_has_ended_when_raise_returns
    on_every_backend do |scheduler, backend|
      server = TCPServer.new("127.0.0.1", 0)
      child = spawn("exec sleep #{PATIENCE}")
      waits = kinds_of_waits(server, child)
      ended = []
      fibers = waits.map { |kind, wait| Fiber.schedule { ended << kind if ends_in(&wait) == EOFError } }
      raising = Fiber.schedule do
        sleep(0)
        fibers.each { |fiber| fiber.raise(EOFError) }
        assert_equal [waits.keys, []], [ended, fibers.select(&:alive?)], backend
      end
      scheduler.run
      refute raising.alive?
    ensure
      server.close
      Process.kill(:KILL, child) && Process.wait(child)
    end
  end

  # @return [Hash{Symbol => Proc}] what nothing ends
  def kinds_of_waits(server, child)
    reader, writer = IO.pipe
    socket, @peer = UNIXSocket.pair
    full = IO.pipe.last.tap { |pipe| pipe.write_nonblock("x" * 65_536) }
    waits = { read: -> { reader.read(1) }, readpartial: -> { socket.readpartial(1) }, wait: -> { reader.wait_readable },
              write: -> { full.write("x") }, accept: -> { server.accept }, process: -> { Process.wait(child) }, sleep: -> { sleep } }
    return waits.except(:accept, :process) if RUBY_ENGINE == "jruby" # these and IO.select block its thread
    return waits if RUBY_VERSION < "3.2" # where IO.select blocks the thread

    waits.merge(select: -> { IO.select([reader, socket, server], [full], nil, PATIENCE) && writer })
  end

  def test_a_fiber_has_ended_that_one_that_ends_raises_into
    on_every_backend do |scheduler|
      inner = Fiber.schedule { assert_raises(EOFError) { sleep } }
      middle = Fiber.schedule do
        assert_raises(EOFError) { sleep }
        inner.raise(EOFError)
        refute inner.alive?
      end
      Fiber.schedule do
        middle.raise(EOFError)
        refute middle.alive?
      end
      scheduler.run
    end
  end

  def test_the_scheduler_runs_once_at_a_time
    on_every_backend do |scheduler|
      slept = false
      Fiber.schedule { sleep(0.001) && slept = true }
      Fiber.schedule { %i[run close].each { |name| assert_raises(Upwell::Error) { scheduler.public_send(name) } } }
      scheduler.run
      assert slept
    end
  end

  def test_what_handles_a_signal_neither_runs_nor_closes_it
    skip "does no harm to the scheduler in Ruby" if BACKENDS == ["select"]
    BACKENDS.each do |backend|
      Fiber.set_scheduler(scheduler = Upwell::Scheduler.new(backend: backend))
      reader, writer = IO.pipe
      before = trap(SIGNAL) do
        %i[run close].each { |name| assert_raises(Upwell::Error) { scheduler.public_send(name) } }
        writer << "handled"
        writer.close
      end
      received = nil
      Fiber.schedule { received = reader.read }
      thread = when_waiting { Process.kill(SIGNAL, Process.pid) }
      scheduler.run
      assert_equal "handled", received
      thread.join
    ensure
      trap(SIGNAL, before || "DEFAULT")
      Fiber.set_scheduler(nil)
      reader&.close
    end
  end

  def test_closing
    BACKENDS.each do |backend|
      scheduler = Upwell::Scheduler.new(backend: backend)
      refute scheduler.closed?
      done = false
      Thread.new do
        Fiber.set_scheduler(scheduler)
        Fiber.schedule { sleep(0.001) && done = true }
        Fiber.set_scheduler(nil)
        assert done
        assert scheduler.closed?
        assert_nil scheduler.close
        assert_raises(Upwell::Error) { scheduler.fiber { flunk } }
      end.join
    end
  end

  def test_fibers_that_outlive_their_scheduler_can_be_raised_into
    BACKENDS.each do |backend|
      reader, writer = IO.pipe
      waits = [-> { reader.wait_readable }, -> { reader.read(1) }, -> { sleep }]
      waits << -> { IO.select([reader]) } if RUBY_VERSION >= "3.2" # else the thread would wait
      ended = []
      Thread.new do
        Fiber.set_scheduler(Upwell::Scheduler.new(backend: backend))
        fibers = waits.map { |wait| Fiber.schedule { 2.times { ended << ends_in(&wait) } } }
        assert_raises(KeyError) { interrupted(KeyError) { Fiber.set_scheduler(nil) } }
        fibers.each { |fiber| fiber.raise(IOError) }
      end.join
      assert_equal [IOError] * waits.size, ended.last(waits.size), backend
      assert_equal 2 * waits.size, ended.size
    ensure
      [reader, writer].each(&:close)
    end
  end

  def test_a_thread_that_is_killed_ends_its_fibers
    BACKENDS.each do |backend|
      ensured = Thread::Queue.new
      ready = Thread::Queue.new
      thread = Thread.new do
        Fiber.set_scheduler(Upwell::Scheduler.new(backend: backend))
        Fiber.schedule { (ready << 1) && sleep }
        sleep
      ensure
        ensured << :thread
      end
      ready.pop
      thread.kill
      assert thread.join(PATIENCE)
      assert_equal :thread, ensured.pop
    end
  end

  def test_choosing_a_backend
    assert_equal BACKENDS, Upwell::Scheduler.backends - [POLLED_BACKEND]
    BACKENDS.each { |backend| assert_equal backend, Upwell::Scheduler.new(backend: backend.to_sym).backend }
    assert_equal BACKENDS.first, Upwell::Scheduler.new(backend: nil).backend
    error = assert_raises(Upwell::BackendError) { Upwell::Scheduler.new(backend: :devpoll) }
    assert_match(/devpoll.*#{BACKENDS.join(", ")}/, error.message)
  end

  def test_storage_is_inherited
    skip "Fiber[] is there since Ruby 3.2" unless Fiber.respond_to?(:[])

    on_every_backend do
      Fiber[:upwell] = 1
      Fiber.schedule { assert_equal 1, Fiber[:upwell] }
      Fiber.schedule(storage: { upwell: 2 }) { assert_equal 2, Fiber[:upwell] }
    end
  end

  # A fiber that reads from one that is about to be closed gets an IOError.
  def test_threads_that_close_at_once_leave_nothing_behind
    skip "only JRuby's threads run at once" unless RUBY_ENGINE == "jruby"

    closing = Upwell::Pure::Scheduler.class_eval("IOClose", __FILE__, __LINE__)
    closed = IO.pipe.each(&:close).first
    over = Upwell::Pure.now + 1
    Array.new(4) { Thread.new { closed.close until Upwell::Pure.now > over } }.each(&:join)
    refute closing.closing?(closed)
  end

  private

  # The class of what ends the block: `close` ends fibers by what is no StandardError.
  def ends_in
    yield
  rescue Exception => e # rubocop:disable Lint/RescueException
    e.class
  end

  # Raises in this thread as soon as it waits.
  def interrupted(error)
    thread = Thread.current
    other = Thread.new do
      Thread.pass until thread.status == "sleep"
      thread.raise(error)
    end
    yield
  ensure
    other.join
  end
end
