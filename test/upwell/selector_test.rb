# frozen_string_literal: true

require_relative "../test_helper"
require "socket"
require "upwell/pure"
require_relative "../support/platform_skips"
require_relative "../support/action_while_thread_waits"

# What holds for every selector, in C or in Ruby.
module SelectorTests
  include PlatformSkips
  include ActionWhileThreadWaits

  WAIT_MAX = 60 # seconds: whoever waits that long waits for what was lost
  READABLE = IO::READABLE
  WRITABLE = IO::WRITABLE

  def setup
    @selector = new_selector
    @reader, @writer = IO.pipe
  end

  def teardown
    [@reader, @writer, @selector].each(&:close)
  end

  def capture_exceptions
    super { Timeout.timeout(WAIT_MAX) { yield } }
  end

  def test_it_runs_on_the_backend_asked_for
    assert_equal backend, @selector.backend
    assert_raises(Upwell::BackendError) { @selector.class.new(backend: "devpoll") }
    assert_equal [READABLE, WRITABLE], [@selector.class::READABLE, @selector.class::WRITABLE]
  end

  def test_registration_lasts_over_waits
    assert_same @selector, @selector.register(@reader, READABLE)
    assert_empty @selector.wait(0)
    @writer << "xy"
    3.times { assert_equal [[@reader, READABLE]], @selector.wait }
    @reader.read_nonblock(2)
    assert_empty @selector.wait(0)
    @writer << "z"
    assert_equal [[@reader, READABLE]], @selector.wait
  end

  def test_a_wait_goes_on_when_another_thread_registers
    other, other_writer = IO.pipe
    main = Thread.current
    thread = when_waiting do
      @selector.register(other, READABLE)
      await_waiting(main)
      @selector.deregister(other)
      await_waiting(main)
      @selector.register(@reader, READABLE)
      @writer << "x"
    end
    assert_equal [[@reader, READABLE]], @selector.wait
    thread.join
  ensure
    [other, other_writer].each(&:close)
  end

  def test_all_that_are_ready_are_told
    @selector.register(@reader, READABLE).register(@writer, WRITABLE)
    assert_equal [[@writer, WRITABLE]], @selector.wait
    @writer << "x"
    assert_equal [[@reader, READABLE], [@writer, WRITABLE]], @selector.wait.sort_by(&:last)
  end

  Equal = Struct.new(:peer) { attr_accessor :to_io }

  def test_who_are_equal_are_not_the_same
    other, writer = IO.pipe
    ready, waits = [@reader, other].map { |io| Equal.new("::1").tap { |equal| equal.to_io = io } }
    [ready, waits].each { |equal| @selector.register(equal, READABLE) }
    @writer << "x"
    assert_equal [ready.object_id], @selector.wait.map { |io, _| io.object_id }
  ensure
    [other, writer].each(&:close)
  end

  def test_both_directions_of_one_io
    UNIXSocket.pair do |one, other|
      @selector.register(one, READABLE | WRITABLE)
      assert_equal [[one, WRITABLE]], @selector.wait
      other << "x"
      assert_equal [[one, READABLE | WRITABLE]], @selector.wait
    end
  end

  def test_registering_again_replaces_the_interest
    UNIXSocket.pair do |one, other|
      @selector.register(one, WRITABLE)
      assert_equal [[one, WRITABLE]], @selector.wait
      @selector.register(one, READABLE)
      assert_empty @selector.wait(0)
      other << "x"
      assert_equal [[one, READABLE]], @selector.wait
    end
  end

  def test_deregistering
    @writer << "x"
    @selector.register(@reader, READABLE)
    assert_equal 1, @selector.wait.size
    assert_equal true, @selector.deregister(@reader)
    assert_equal false, @selector.deregister(@reader)
    assert_empty @selector.wait(0)
  end

  def test_with_a_block
    @writer << "x"
    @selector.register(@reader, READABLE).register(@writer, WRITABLE)
    yielded = []
    assert_same(@selector, @selector.wait { |io, events| yielded << [io, events] })
    assert_equal [[@reader, READABLE], [@writer, WRITABLE]], yielded.sort_by(&:last)
  end

  def test_whoever_hangs_up_is_told_of
    @selector.register(@reader, READABLE)
    @writer.close
    assert_equal [[@reader, READABLE]], @selector.wait
    assert_nil @reader.read_nonblock(1, exception: false)
    reader, writer = IO.pipe
    @selector.register(writer, WRITABLE)
    reader.close
    assert_includes @selector.wait, [writer, WRITABLE]
    writer.close
  end

  def test_the_time_out
    @selector.register(@reader, READABLE)
    begin_at = now
    assert_empty @selector.wait(0.02)
    assert_operator now - begin_at, :>=, 0.02
    assert_raises(ArgumentError) { @selector.wait(-1) }
  end

  def test_a_time_out_as_far_as_numbers_go
    @selector.register(@writer, WRITABLE)
    [1e9, 1e30, 10**40, Float::INFINITY].each { |seconds| assert_equal [[@writer, WRITABLE]], @selector.wait(seconds) }
  end

  def test_what_the_block_deregisters_or_closes_is_not_yielded
    [->(io) { @selector.deregister(io) }, :close.to_proc, ->(io) { @selector.register(io, READABLE) }].each do |stop|
      ends = [UNIXSocket.pair, UNIXSocket.pair].flatten
      ends.each { |io| @selector.register(io, WRITABLE) }
      yielded = []
      @selector.wait { |io, _| (yielded << io) && ends.each { |other| stop.call(other) unless other.equal?(io) } }
      assert_equal 1, yielded.size
      ends.each do |io|
        @selector.deregister(io)
        io.close
      end
    end
  end

  def test_wrong_interests
    wrong = [0, IO::PRIORITY, 8, -1] - [WRITABLE] # JRuby 9.4 has one number for two of them
    wrong.each { |interest| assert_raises(ArgumentError) { @selector.register(@reader, interest) } }
  end

  def test_a_wake_up_ends_a_wait
    thread = when_waiting { @selector.wakeup }
    assert_empty @selector.wait
    thread.join
    @selector.wakeup
    assert_empty @selector.wait
  end

  def test_another_thread_registers
    @writer << "x"
    thread = when_waiting { @selector.register(@reader, READABLE) }
    pairs = []
    pairs = @selector.wait while pairs.empty?
    assert_equal [[@reader, READABLE]], pairs
    thread.join
  end

  def test_a_closed_io_is_registered_no_more
    reader, writer = IO.pipe
    @selector.register(reader, READABLE)
    writer << "x"
    assert_equal [[reader, READABLE]], @selector.wait
    reader.close
    writer.close
    assert_empty @selector.wait(0)
    assert_equal false, @selector.deregister(reader)
    assert_raises(IOError) { @selector.register(reader, READABLE) }
  end

  def test_a_closed_selector
    @selector.register(@reader, READABLE)
    @selector.wait(0)
    assert_nil @selector.close
    assert_nil @selector.close
    assert_predicate @selector, :closed?
    [-> { @selector.wait }, -> { @selector.register(@reader, READABLE) }, -> { @selector.deregister(@reader) },
     -> { @selector.wakeup }, -> { @selector.backend }].each { |call| assert_raises(IOError, &call) }
  end

  def test_one_thread_at_a_time
    thread = Thread.new { @selector.wait }
    await_waiting(thread)
    assert_raises(Upwell::Error) { @selector.wait }
    assert_raises(Upwell::Error) { @selector.close }
    @selector.wakeup
    assert_empty thread.value
  end

  # It could end the wait's own loop.
  def test_what_handles_a_signal_must_neither_wait_nor_close
    skip "Ruby itself refuses its lock" if backend == "select"
    @selector.register(@reader, READABLE)
    errors = []
    before = trap(SIGNAL) do
      errors << assert_raises(Upwell::Error) { @selector.wait(0.0001) } << assert_raises(Upwell::Error) { @selector.close }
      @writer << "x"
    end
    thread = when_waiting { Process.kill(SIGNAL, Process.pid) }
    assert_equal [[@reader, READABLE]], @selector.wait
    assert_equal 2, errors.size
    thread.join
  ensure
    trap(SIGNAL, before || "DEFAULT")
  end

  private

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

(BACKENDS | ["select"]).each do |name|
  Object.const_set("SelectorOn#{name.delete("_").capitalize}Test", Class.new(Minitest::Test) do
    include SelectorTests

    define_method(:backend) { name }
    define_method(:new_selector) { (name == "select" ? Upwell::Pure::Selector : Upwell::Selector).new(backend: name) }
  end)
end
