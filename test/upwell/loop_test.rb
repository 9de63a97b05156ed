# frozen_string_literal: true

require_relative "../test_helper"
require "socket"
require "upwell/pure"
require_relative "../support/platform_skips"
require_relative "../support/action_while_thread_waits"

# What holds for every loop, in C or in Ruby.
module LoopTests
  include PlatformSkips
  include ActionWhileThreadWaits

  WAIT_MAX = 60 # seconds: whoever waits that long waits for what was lost

  def setup
    @loop = new_loop
  end

  def capture_exceptions
    super { Timeout.timeout(WAIT_MAX) { yield } }
  end

  def take(count)
    Array.new(count) { next_key }
  end

  # A wait may end without an event.
  def next_key
    loop do
      key = @loop.next_event
      return key unless key.nil?
    end
  end

  # Nothing is waiting: an event emitted now is the next one.
  def assert_quiet
    @loop.emit(:quiet)
    @loop.signal
    assert_equal :quiet, next_key
    @loop.signal
    assert_nil @loop.next_event
  end

  def pipe
    IO.pipe.tap { |pair| (@pipes ||= []).concat(pair) }
  end

  def sockets
    UNIXSocket.pair.tap { |pair| (@pipes ||= []).concat(pair) }
  end

  def watch_what_is_always_ready
    reader, writer = pipe
    writer.write("x") # which nobody reads
    @loop.watch_io(:ready, reader, false, false)
  end

  def teardown
    @pipes&.each(&:close)
  end

  def test_it_runs_on_the_backend_asked_for
    assert_equal backend, @loop.backend
    assert_raises(Upwell::BackendError) { @loop.class.new(backend: "devpoll") }
    assert_raises(ArgumentError) { @loop.class.new(speed: 1) }
  end

  def test_emitted_keys_come_in_order_and_stop_ends_each
    @loop.emit(1)
    @loop.emit(2, 3)
    keys = []
    result = @loop.each do |key|
      keys << key
      @loop.emit(:stop) if key == 3
    end
    assert_equal [1, 2, 3], keys
    assert_same @loop, result
  end

  def test_emit_returns_its_first_key
    assert_equal :a, @loop.emit(:a, :b)
    assert_raises(ArgumentError) { @loop.emit }
  end

  def test_any_object_is_a_key
    keys = [nil, false, 1.5, "text", [1], Object.new, Class]
    keys.each { |key| @loop.emit(key) }
    keys.each { |key| key.nil? ? assert_nil(@loop.next_event) : assert_same(key, @loop.next_event) }
  end

  def test_what_was_brought_is_yielded_before_each_ends
    @loop.emit(1, 2, 3)
    keys = []
    @loop.each do |key|
      keys << key
      @loop.stop
    end
    assert_equal [1, 2, 3], keys
  end

  def test_a_break_loses_no_event
    @loop.emit(1, 2, 3)
    @loop.each { |key| break if key == 1 }
    assert_equal [2, 3], take(2)
  end

  def test_each_without_a_block_is_an_enumerator
    @loop.emit(1, 2)
    events = @loop.each
    assert_equal [1, 2], [events.next, events.next]
    @loop.emit(3, 4)
    assert_equal [3, 4], @loop.each.first(2)
  end

  def test_a_oneshot_watch_brings_one_event
    reader, writer = pipe
    assert_same @loop, @loop.watch_io("pipe", reader, false, true)
    writer << "x"
    assert_equal "pipe", next_key
    assert_quiet
    @loop.watch_io("pipe", reader, false, true)
    assert_equal "pipe", next_key
  end

  def test_a_persistent_watch_brings_an_event_in_every_turn_while_ready
    reader, writer = pipe
    @loop.watch_io(:pipe, reader, false, false)
    writer << "xy"
    assert_equal %i[pipe pipe pipe], take(3)
    reader.read_nonblock(2)
    assert_quiet
    writer << "z"
    assert_equal :pipe, next_key
    @loop.unwatch(:pipe)
    assert_quiet
  end

  def test_watching_for_writing
    reader, writer = WINDOWS ? sockets : pipe # whose pipes always count as writable
    @loop.watch_io(:out, writer, true, true)
    assert_equal :out, next_key
    nil while writer.write_nonblock("x" * 65_536, exception: false).is_a?(Integer)
    @loop.watch_io(:out, writer, true, true)
    assert_quiet
    nil while reader.read_nonblock(65_536, exception: false).is_a?(String)
    assert_equal :out, next_key
  end

  def test_both_directions_of_one_io
    UNIXSocket.pair do |one, other|
      @loop.watch_io(:read, one, false, true)
      @loop.watch_io(:write, one, true, true)
      assert_equal :write, next_key
      assert_quiet
      other << "x"
      assert_equal :read, next_key
    end
  end

  def test_watching_a_descriptor
    reader, writer = pipe
    @loop.watch_fd(:fd, reader.fileno, false, false)
    writer << "x"
    assert_equal %i[fd fd], take(2)
    @loop.unwatch(:fd)
    @loop.watch_fd(:fd, writer.fileno, true, true)
    assert_equal :fd, next_key
    assert_quiet
    assert_raises(WINDOWS ? SystemCallError : Errno::EBADF) { @loop.watch_fd(:none, 1_000_000, false, true) }
  end

  def test_a_plain_file_is_ready
    File.open(__FILE__) do |file|
      @loop.watch_io(:file, file, false, true)
      assert_equal :file, next_key
    end
  end

  def test_what_answers_to_to_io
    reader, writer = pipe
    @loop.watch_io(:wrapped, Struct.new(:to_io).new(reader), false, true)
    writer << "x"
    assert_equal :wrapped, next_key
    assert_raises(TypeError, NoMethodError) { @loop.watch_io(:none, "text", false, true) }
  end

  def test_the_end_of_a_stream_is_an_event
    reader, writer = pipe
    @loop.watch_io(:pipe, reader, false, true)
    writer.close
    assert_equal :pipe, next_key
  end

  def test_a_key_is_in_use_until_its_event_or_unwatch
    reader, writer = pipe
    @loop.watch_io([1, "a"], reader, false, true)
    error = assert_raises(RuntimeError) { @loop.watch_timer([1, "a"], 1) }
    assert_match(/\[1, "a"\] is watched already/, error.message)
    @loop.unwatch([1, "a"])
    @loop.watch_io([1, "a"], reader, false, true)
    writer << "x"
    assert_equal [1, "a"], next_key
    @loop.watch_timer([1, "a"], 10)
    assert_raises(RuntimeError) { @loop.watch_io([1, "a"], reader, false, true) }
  end

  def test_the_key_of_a_oneshot_watch_is_free_before_its_event_is_delivered
    ends = [pipe, pipe]
    ends.each_with_index { |(reader, _), index| @loop.watch_io(index, reader, false, true) }
    ends.map(&:last).each { |writer| writer << "x" }
    first = next_key
    @loop.watch_io(1 - first, ends[1 - first][0], false, true)
    assert_equal [1 - first, 1 - first], take(2)
  end

  def test_an_altered_key_does_no_harm
    reader, writer = pipe
    key = [1]
    @loop.watch_io(key, reader, false, true)
    key << 2
    writer << "x"
    assert_same key, next_key
    GC.start
    @loop.watch_io([1, 2], reader, false, true)
    @loop.watch_io([1], reader, false, true)
    assert_equal [[1], [1, 2]], take(2).sort
  end

  def test_unwatch_takes_an_event_back
    ends = [pipe, pipe]
    ends.each_with_index { |(reader, _), index| @loop.watch_io(index, reader, false, false) }
    ends.map(&:last).each { |writer| writer << "x" }
    first = next_key
    @loop.unwatch(1 - first)
    assert_equal [first, first], take(2)
    assert_same @loop, @loop.unwatch(:unknown)
  end

  def test_what_was_taken_back_ends_no_wait
    20.times do
      watch_what_is_always_ready
      assert_equal :ready, next_key
      @loop.unwatch(:ready)
      @loop.watch_timer(:later, 0.005)
      assert_equal :later, @loop.next_event
    end
  end

  def test_nor_does_one_of_several_events
    ends = [pipe, pipe]
    ends.each_with_index { |(reader, _), index| @loop.watch_io(index, reader, false, true) }
    ends.map(&:last).each { |writer| writer << "x" }
    @loop.unwatch(1 - next_key)
    @loop.watch_timer(:later, 0.005)
    assert_equal :later, @loop.next_event
  end

  def test_timers_come_in_order_and_not_early
    begin_at = watch_before(0.01, late: 0.03, soon: 0.01, at_once: 0, past: -1)
    assert_equal %i[at_once past], take(2).sort
    assert_equal :soon, next_key
    assert_operator now - begin_at, :>=, 0.01
    assert_equal :late, next_key
    assert_operator now - begin_at, :>=, 0.03
    assert_raises(ArgumentError) { @loop.watch_timer(:nan, Float::NAN) }
    assert_raises(TypeError, ArgumentError) { @loop.watch_timer(:text, "1") }
  end

  # Until the machine has not paused meanwhile: none was due before the last was watched.
  def watch_before(seconds, **timers)
    loop do
      begin_at = now
      timers.each { |key, duration| @loop.watch_timer(key, duration) }
      return begin_at if now - begin_at < seconds

      timers.each_key { |key| @loop.unwatch(key) }
    end
  end

  def test_a_timer_of_no_time_that_there_is
    @loop.watch_timer(:before_all, -Float::INFINITY, Float::INFINITY)
    assert_equal :before_all, next_key
    @loop.unwatch(:before_all)
    assert_quiet
  end

  def test_a_timer_as_far_as_numbers_go
    [1e9, 1e30, 10**40, Float::INFINITY].each do |seconds|
      @loop.watch_timer(:far, seconds, seconds)
      thread = when_waiting { @loop.emit(:near) }
      assert_equal :near, next_key
      thread.join
      @loop.unwatch(:far)
    end
    @loop.watch_timer(:soon, 0.001, Float::INFINITY)
    assert_equal :soon, next_key
  end

  def test_a_recurring_timer
    begin_at = now
    @loop.watch_timer(:tick, 0.01, 0.005)
    assert_equal %i[tick tick tick], take(3)
    assert_operator now - begin_at, :>=, 0.02
    @loop.unwatch(:tick)
    assert_quiet
  end

  def test_a_late_timer_does_not_catch_up
    @loop.watch_timer(:late, 0, 0.02)
    sleep 0.2
    begin_at = now
    assert_equal %i[late late late], take(3) # the one that was due, the one that is due since then, and the next
    assert_operator now - begin_at, :>=, 0.02
  end

  def test_a_timer_can_be_unwatched
    @loop.watch_timer(:never, 0.005)
    @loop.watch_timer(:after, 0.02)
    @loop.unwatch(:never)
    assert_equal :after, next_key
  end

  def test_another_thread_signals
    reader, = pipe
    @loop.watch_io(:pipe, reader, false, true)
    thread = Thread.new { @loop.signal }
    assert_nil @loop.next_event
    thread.join
  end

  def test_another_thread_emits
    reader, writer = pipe
    @loop.watch_io(:pipe, reader, false, true)
    thread = when_waiting do
      @loop.emit(:emitted, :too)
      writer << "x"
    end
    assert_equal %i[emitted too pipe], take(3)
    thread.join
  end

  def test_another_thread_watches_and_unwatches
    reader, writer = pipe
    writer << "x"
    @loop.watch_timer(:never, 1000)
    thread = when_waiting do
      @loop.unwatch(:never)
      @loop.watch_io(:pipe, reader, false, true)
    end
    assert_equal :pipe, next_key
    thread.join
    @loop.watch_timer(:never, 1000)
  end

  def test_another_thread_stops
    thread = when_waiting { @loop.stop }
    assert_same(@loop, @loop.each { flunk })
    thread.join
    thread = when_waiting { @loop.emit(:stop) }
    assert_same(@loop, @loop.each { flunk })
    thread.join
  end

  def test_another_thread_stops_just_before_the_wait
    skip "the place is known in Ruby only" unless backend == "select"
    other = @loop
    @loop.instance_variable_get(:@select).define_singleton_method(:occupy) do |&block|
      Thread.new { other.stop }.join
      super(&block)
    end
    keys = []
    assert_same @loop, @loop.each { |key| keys << key }
    assert_empty keys
  end

  # Between two turns, when the loop lets other threads run.
  def test_another_thread_takes_back_the_only_event_and_stops
    watch_what_is_always_ready
    keys = []
    thread = Thread.new do
      sleep 0.01 until keys.size > 3
      @loop.unwatch(:ready)
      @loop.emit(:last)
      @loop.stop
    end
    @loop.each do |key|
      keys << key
      compute(0.012)
    end
    assert_equal :last, next_key unless keys.include?(:last) # came after the last turn
    thread.join
  end

  def test_a_trap_handler_stops
    before = trap(SIGNAL) { @loop.stop }
    thread = when_waiting { Process.kill(SIGNAL, Process.pid) }
    assert_same(@loop, @loop.each { flunk })
    thread.join
  ensure
    trap(SIGNAL, before || "DEFAULT")
  end

  def test_what_handles_a_signal_must_not_wait
    skip "Ruby itself refuses its lock" if backend == "select"
    error = nil
    before = trap(SIGNAL) do
      error = assert_raises(Upwell::Error) { @loop.next_event }
      @loop.emit(:handled)
    end
    thread = when_waiting { Process.kill(SIGNAL, Process.pid) }
    assert_equal :handled, next_key
    assert_match(/this thread is already waiting/, error.message)
    thread.join
  ensure
    trap(SIGNAL, before || "DEFAULT")
  end

  def test_an_exception_from_another_thread_ends_the_wait
    main = Thread.current
    thread = when_waiting { main.raise(IOError, "enough") }
    assert_raises(IOError) { @loop.each { flunk } }
    thread.join
    @loop.emit(1)
    assert_equal 1, next_key
  end

  def test_an_exception_that_comes_with_an_emitted_event_leaves_no_end_of_a_later_wait
    skip "the loop in Ruby returns nil once more" if backend == "select"
    main = Thread.current
    thread = when_waiting { @loop.emit(:emitted) && main.raise(IOError, "enough") }
    keys = []
    assert_raises(IOError) { (keys << @loop.next_event) && sleep }
    thread.join
    @loop.watch_timer(:timer, 0.01)
    keys << @loop.next_event until keys.include?(:timer)
    assert_equal %i[emitted timer], keys
  end

  def test_an_exception_that_was_put_off_until_the_thread_waits_comes_then
    main = Thread.current
    assert_raises(IOError) do
      Thread.handle_interrupt(IOError => :on_blocking) do
        Thread.new { main.raise(IOError, "enough") }
        nil until Thread.pending_interrupt?
        100.times { nil } # Ruby puts it off, and has no flag that tells of it
        next_key
      end
    end
  end

  def test_other_threads_run_while_it_waits
    counted = 0
    thread = Thread.new { 100.times { (counted += 1) && Thread.pass } && @loop.emit(:done) }
    assert_equal :done, next_key
    assert_equal 100, counted
    thread.join
  end

  # Ruby by itself would leave a busy thread the lock for 100 ms.
  def test_other_threads_run_while_it_always_has_events
    watch_what_is_always_ready
    other = nil # before the loop has begun a stop would be lost
    taken = -> { Process.times.then { |times| times.utime + times.stime } }
    before = taken.call
    @loop.each do |key|
      assert_equal :ready, key
      other ||= Thread.new { 20.times { sleep(0.000001) } && @loop.stop }
    end
    assert_operator taken.call - before, :<, 1
    other.join
  end

  # While it lets others run, it waits all the same: they must not have it open a loop of their own.
  def test_one_thread_at_a_time_while_it_always_has_events
    watch_what_is_always_ready
    refused = []
    other = Thread.new do
      500.times { sleep(0.000001) && @loop.next_event }
    rescue Upwell::Error => e
      refused << e
    ensure
      @loop.stop
    end
    begin
      @loop.each { |key| assert_equal :ready, key }
    rescue Upwell::Error => e
      refused << e # the other was there first
    end
    other.join
    refute_empty refused
  end

  # Without the extension a thread takes an event, and another begins to wait, before the event's watch is idle again.
  def test_who_waits_is_told_of_a_watch_whose_event_another_thread_has_just_taken
    watch_what_is_always_ready
    @loop.emit(*[:other] * 2048)
    assert_equal [:other] * 2048, take(2048) # only then, and at the second wait, is :ready the next
    threads = while_watches_are_held do
      Array.new(2) { Thread.new { next_key }.tap { |thread| Thread.pass until thread.stop? } } # one waits, one takes
    end
    assert_equal %i[ready ready], threads.map(&:value)
  end

  def test_one_thread_at_a_time_until_what_has_come_is_an_event
    skip "the place is known in Ruby only" unless backend == "select"
    reader, writer = pipe
    writer << "x"
    @loop.watch_io(:once, reader, false, true)
    has_come = Queue.new
    goes_on = Queue.new
    before(:fire) { has_come.push(nil) && goes_on.pop }
    thread = Thread.new { next_key }
    has_come.pop
    assert_raises(Upwell::Error) { @loop.next_event }
    goes_on << true
    assert_equal :once, thread.value
  end

  def test_who_finds_that_another_thread_has_taken_the_event_waits_for_the_next
    skip "the place is known in Ruby only" unless backend == "select"
    @loop.emit(:first)
    has_looked = Queue.new
    goes_on = Queue.new
    main = Thread.current
    before(:take) { has_looked.push(nil) && goes_on.pop unless Thread.current == main }
    slow = Thread.new { next_key }
    has_looked.pop
    assert_equal :first, next_key
    2.times { goes_on << true }
    @loop.emit(:second)
    assert_equal :second, slow.value
  end

  # While another waits, who has it then.
  def test_who_is_ended_as_it_takes_an_event_takes_it_from_no_other
    skip "the place is known in Ruby only" unless backend == "select"
    reader, writer = pipe
    writer << "x"
    begin_one = { emitted: -> { @loop.emit(:emitted) }, once: -> { @loop.watch_io(:once, reader, false, true) },
                  recurs: -> { @loop.watch_timer(:recurs, 0, 3600) } }
    ends = [-> { raise IOError, "enough" }, -> { throw :out }, -> { Thread.current.kill }]
    begin_one.to_a.product(ends).each do |(key, begins), ends_the_thread|
      begins.call
      assert_equal key, taken_by_another(&ends_the_thread)
      @loop.unwatch(key)
    end
  end

  def test_what_is_raised_as_an_event_is_taken_leaves_its_watch
    skip "the place is known in Ruby only" unless backend == "select"
    watch_what_is_always_ready
    %i[delivered deliver].each do |method|
      before(method) { raise IOError, "enough" }
      assert_raises(IOError) { next_key }
      @loop.singleton_class.remove_method(method)
      assert_equal :ready, next_key
    end
  end

  def test_time_outs_leave_what_is_watched
    watch_what_is_always_ready
    100.times do
      Timeout.timeout(0.0005) { loop { @loop.next_event } }
    rescue Timeout::Error
      assert_equal :ready, next_key
    end
  end

  def test_one_thread_at_a_time
    thread = Thread.new { next_key }
    await_waiting(thread)
    error = assert_raises(Upwell::Error) { @loop.next_event }
    assert_match(/another thread is waiting/, error.message)
    @loop.emit(:go)
    assert_equal :go, thread.value
  end

  def test_it_moves_to_another_thread_with_its_watches
    reader, writer = pipe
    @loop.watch_io(:pipe, reader, false, false)
    @loop.watch_timer(:timer, 0.01)
    assert_equal :timer, next_key
    @loop.watch_timer(:timer, 0.01)
    @loop.emit(:emitted)
    writer << "x"
    assert_equal %i[emitted pipe], Thread.new { take(2) }.value
    reader.read_nonblock(1)
    assert_equal :timer, next_key
  end

  def test_a_child_process_goes_on_without_disturbing_its_parent
    skip_without_fork
    reader, writer = pipe
    @loop.watch_io(:pipe, reader, false, false)
    assert_quiet
    pid = fork do
      @loop.watch_timer(:timer, 0.01)
      exit!(next_key == :timer)
    end
    assert_predicate Process.wait2(pid).last, :success?
    writer << "x"
    assert_equal :pipe, next_key
  end

  # What handles the signal is called where the wait is about to block: only a trace tells when.
  def test_a_child_process_forked_in_the_midst_of_a_wait_goes_on_with_it
    skip "IO.select goes on in the child, for its parent's pipe: Ruby lets nobody end it" if backend == "select"
    parent = Process.pid
    child = nil
    before = trap(SIGNAL) { (child = fork) || when_waiting { assert_raises(Upwell::Error) { @loop.next_event } && @loop.emit(:in_child) } }
    thread = Thread.new do
      Thread.pass until child # which would have the event, too
      @loop.emit(:in_parent)
    end
    key = about_to_block(-> { Process.kill(SIGNAL, parent) }) { next_key }
    exit!(key == :in_child) unless Process.pid == parent
    assert_equal :in_parent, key
    assert_predicate Process.wait2(child).last, :success?
    thread.join
  ensure
    trap(SIGNAL, before || "DEFAULT")
  end

  def test_a_signal_in_a_child_process_ends_one_wait
    skip_without_fork
    assert_quiet
    pid = fork do
      @loop.signal
      @loop.watch_timer(:timer, 0.1)
      waits = 1
      waits += 1 until @loop.next_event == :timer
      exit!(waits <= 3)
    end
    assert_predicate Process.wait2(pid).last, :success?
  end

  def test_a_child_process_that_never_waits_does_not_disturb_its_parent
    skip_without_fork
    thread = Thread.new { next_key }
    await_waiting(thread)
    Process.wait(fork { @loop.emit(:child) && @loop.signal && exit! })
    @loop.emit(:own)
    assert_equal :own, thread.value
  end

  def test_a_child_process_that_ends_does_not_disturb_its_parent
    skip_without_fork
    reader, writer = pipe
    @loop.watch_io(:pipe, reader, false, false)
    assert_quiet
    Process.wait(fork { exit!(0) if @loop.nil? }) # runs finalizers
    writer << "x"
    assert_equal :pipe, next_key
  end

  def test_a_closed_io_is_watched_no_more
    reader, = IO.pipe
    assert_raises(IOError) { @loop.watch_io(:closed, reader.tap(&:close), false, true) }
    reader, writer = IO.pipe
    @loop.watch_io(:closed, reader, false, false)
    reader.close
    writer.close
    assert_quiet
  end

  def test_closing_a_watched_io_ends_its_connection_and_its_watch
    UNIXSocket.pair do |one, other|
      @loop.watch_io(:one, one, false, false)
      assert_quiet
      @loop.watch_timer(:timeout, 0.01)
      assert_equal :timeout, next_key
      one.close
      peer = Thread.new { other.read && @loop.emit(:gone) }
      assert_equal :gone, next_key
      peer.join
      @loop.watch_timer(:one, 0)
      assert_equal :one, next_key
    end
  end

  def test_a_signal_ends_the_wait
    skip "IO.select goes on after a signal" if backend == "select"
    caught = false
    before = trap(SIGNAL) { caught = true }
    @loop.watch_timer(:never, 1000)
    thread = when_waiting { Process.kill(SIGNAL, Process.pid) }
    assert_nil @loop.next_event until caught
    thread.join
  ensure
    trap(SIGNAL, before || "DEFAULT")
  end

  def test_a_descriptor_that_is_closed_keeps_no_other_waiting
    reader, = pipe
    @loop.watch_fd(:closed, (copy = reader.dup).fileno, false, false)
    watch_what_is_always_ready
    copy.close
    assert_includes Array.new(10) { @loop.signal && @loop.next_event }, :ready
  end

  def test_an_io_closed_after_its_event_came
    ends = [IO.pipe, IO.pipe]
    ends.each_with_index { |(reader, _), index| @loop.watch_io(index, reader, false, false) }
    ends.map(&:last).each { |writer| writer << "x" }
    first = next_key
    ends[1 - first].each(&:close)
    assert_equal [first, first], take(2)
    @loop.unwatch(first)
    ends[first].each(&:close)
    assert_quiet
  end

  def test_the_number_of_an_io_closed_after_its_event_came_is_used_again
    ends = [pipe, pipe]
    ends.each_with_index { |(reader, _), index| @loop.watch_io(index, reader, false, false) }
    ends.map(&:last).each { |writer| writer << "x" }
    first = next_key
    other = in_place_of(ends[1 - first].first, ends[first].first)
    @loop.unwatch(first)
    @loop.watch_io(:other, other, false, false)
    assert_equal :other, next_key
    @loop.unwatch(:other)
    thread = when_waiting { @loop.stop }
    assert_same(@loop, @loop.each { flunk })
    thread.join
  end

  def test_the_number_of_a_closed_io_is_used_again
    20.times do |i|
      reader, writer = IO.pipe
      @loop.watch_io(i, reader, false, i.even?)
      @loop.signal
      @loop.next_event
      writer << "x" if (i % 3).zero?
      assert_equal i, next_key if (i % 3).zero?
      [reader, writer].each(&:close)
    end
    assert_quiet
  end

  def test_many_at_once
    ends = Array.new(100) { pipe }
    ends.each_with_index { |(reader, _), index| @loop.watch_io(index, reader, false, true) }
    ends.map(&:last).each { |writer| writer << "x" }
    assert_equal (0...100).to_a, take(100).sort
    assert_quiet
  end

  def test_a_loop_that_always_emits_still_has_turns
    reader, writer = pipe
    writer << "x"
    @loop.watch_io(:pipe, reader, false, true)
    @loop.emit(:again)
    keys = 0
    @loop.each do |key|
      keys += 1
      key == :pipe ? @loop.stop : @loop.emit(:again)
    end
    assert_operator keys, :<, 5000
  end

  private

  # Nobody gets at the watches while the block runs: a key is being looked for.
  def while_watches_are_held
    entered = Queue.new
    left = Queue.new
    key = Object.new
    key.define_singleton_method(:hash) { entered.push(nil) && left.pop.hash }
    holder = Thread.new { @loop.unwatch(key) }
    entered.pop
    yield
  ensure
    left << nil
    holder.join
  end

  # Runs the block each time before a method of the loop.
  def before(method)
    @loop.define_singleton_method(method) do |*arguments|
      yield
      super(*arguments)
    end
  end

  # What another thread, which waits, is told of when one that has taken it is ended by the block.
  def taken_by_another
    other = nil
    before_return_of(:delivered) do
      @loop.singleton_class.remove_method(:delivered)
      other = Thread.new { next_key }
      await_waiting(other)
      yield
    end
    Thread.new { catch(:out) { assert_raises(IOError) { next_key } } }.join
    other.value
  end

  def before_return_of(method)
    @loop.define_singleton_method(method) { |*arguments| super(*arguments).tap { yield } }
  end

  # Closes an IO, and opens another by its number.
  def in_place_of(closed, other)
    number = closed.fileno
    closed.close
    @pipes << other.dup until @pipes.last.fileno == number
    @pipes.last
  end

  def compute(seconds)
    end_time = now + seconds
    nil while now < end_time
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  # Runs the block, and what is to be done once in its midst.
  def about_to_block(act, &block)
    trace = TracePoint.new(:c_call) do |call|
      next unless call.method_id == :pending_interrupt?

      trace.disable
      act.call
    end
    trace.enable(&block)
  end
end

(BACKENDS | ["select"]).each do |name|
  Object.const_set("LoopOn#{name.delete("_").capitalize}Test", Class.new(Minitest::Test) do
    include LoopTests

    define_method(:backend) { name }
    define_method(:new_loop) { (name == "select" ? Upwell::Pure::Loop : Upwell::Loop).new(backend: name) }
  end)
end
