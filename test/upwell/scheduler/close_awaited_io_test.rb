# frozen_string_literal: true

require "fcntl"
require "io/nonblock" unless Gem.win_platform?
require "minitest/mock"
require "objspace"
require_relative "../../test_helper"
require_relative "../../support/under_each_scheduler"

# An IO that is closed while fibers wait for it, by whom and how ever.
class SchedulerCloseAwaitedIOTest < Minitest::Test
  include UnderEachScheduler

  MESSAGE = "stream closed in another thread"
  SHUT_DOWN = ["", "not opened for reading", *(MESSAGE if WINDOWS)].freeze # what finds who reads from a socket that is shut down
  WAITS = {
    "getc" => :getc.to_proc,
    "gets" => :gets.to_proc,
    "read" => :read.to_proc,
    "readpartial" => ->(io) { io.readpartial(10) },
    "wait_readable" => :wait_readable.to_proc
  }.freeze
  SELECT_ASKED = "Ruby asks the scheduler for IO.select since 3.2, and tells since 4.0 only those that read or write"
  WRITER_FIRST = "without the extension, whoever closes an IO with something to write at its end waits first for the fiber that writes"
  REOPENED = "who waits for an IO that is reopened waits on for the former, and pipes made later may fail (EOPNOTSUPP, seen under Wine)"
  ENOUGH = PATIENCE / 2
  CAT = WINDOWS ? [RbConfig.ruby, "--disable-gems", "-e", "IO.copy_stream($stdin, $stdout)"] : "cat"
  BIG = ("0123456789abcdef" * 65_536).freeze

  READS = { **WAITS.slice("gets", "readpartial"), "waits, then reads" => ->(io) { io.wait_readable && io.gets } }.freeze

  # As another IO, of the same kind or not, or as a path.
  def each_reopening(text = "new\n")
    ways = [-> { piped(IO.pipe, text) }, -> { piped(UNIXSocket.pair, text) }]
    ways << -> { File.open(written_file(text)) } << -> { written_file(text) } if text
    ways.each do |way|
      each_pair do |reader, former|
        kept = reader.dup
        other = way.call
        next if other.is_a?(String) && reader.is_a?(BasicSocket) # which would stay one by its class

        yield reader, former, -> { reader.reopen(other) }
        kept.close
      end
    end
  end

  def piped((reader, writer), text)
    (@writers ||= []) << writer
    writer.write(text) if text
    reader
  end

  # @return [String] its path
  def written_file(text)
    @file = Tempfile.new
    @file.write(text)
    @file.close
    @file.path
  end

  def each_pair
    [IO.pipe, UNIXSocket.pair].each { |reader, writer| yield reader, writer }
  end

  # On another thread than that of the fibers, as soon as one of them waits for an IO.
  def on_thread(scheduler)
    Thread.new do
      Thread.pass until scheduler.stats[:operations].positive?
      yield
    end.value
  end

  def test_a_thread_closes_what_a_fiber_waits_for
    on_every_backend do |scheduler, backend|
      WAITS.each do |name, wait|
        each_pair do |reader, _writer|
          Fiber.schedule { assert_equal MESSAGE, closed_message { wait.call(reader) }, "#{backend}, #{name}" }
          Fiber.schedule { on_thread(scheduler) { reader.close } }
          scheduler.run
          assert_predicate reader, :closed?
        end
      end
    end
  end

  def test_a_thread_closes_what_a_fiber_writes
    on_every_backend do |scheduler|
      each_pair do |_reader, writer|
        Fiber.schedule { assert_equal MESSAGE, closed_message { writer.write(BIG) } }
        Fiber.schedule { on_thread(scheduler) { writer.close } }
        scheduler.run
      end
    end
  end

  # The kernel says that such a socket is ready, and has a thread of its own block there.
  def test_a_fiber_closes_what_another_has_just_begun_to_write
    on_every_backend do |scheduler, backend|
      near, _far = UNIXSocket.pair
      near.close_read
      Fiber.schedule { assert_equal MESSAGE, closed_message { near.write(BIG) }, backend }
      scheduler.yield
      Fiber.schedule { near.close }
      scheduler.run
    end
  end

  # The number of what was closed is free for the next.
  def test_what_is_opened_next_is_read_by_nobody_else
    on_every_backend do |scheduler|
      each_pair do |reader, _writer|
        Fiber.schedule { assert_equal MESSAGE, closed_message { reader.readpartial(10) } }
        Fiber.schedule do
          opened, writer = on_thread(scheduler) { reader.close || IO.pipe }
          assert_equal "message", Timeout.timeout(ENOUGH) { writer.write("message") && opened.readpartial(10) }
        end
        scheduler.run
      end
    end
  end

  # Neither the loop's thread nor the kernel writes where Ruby had a buffer.
  def test_what_comes_late_is_written_nowhere
    on_every_backend do |scheduler|
      20.times do
        each_pair do |reader, writer|
          Fiber.schedule { assert_equal MESSAGE, closed_message { reader.getc } }
          scheduler.yield
          pieces = Thread.new { close_and_write(reader, writer) }.value
          scheduler.run
          assert_equal ["." * 8192], pieces.uniq
        end
      end
    end
  end

  # So whoever closes must not wait for the loop.
  def test_the_thread_of_the_fibers_waits_for_the_one_that_closes
    on_every_backend do |scheduler|
      each_pair do |reader, _writer|
        Fiber.schedule { assert_equal MESSAGE, closed_message { reader.gets } }
        assert Thread.new { reader.close }.join(ENOUGH)
        scheduler.run
      end
    end
  end

  def test_the_descriptor_is_closed_when_nobody_waits_any_more
    on_every_backend do |scheduler, backend|
      reader, writer = IO.pipe
      number = reader.fileno
      closed = 0
      others = Array.new(2) { Thread.new { wait_in_another_thread(backend, reader) && closed += 1 } }
      2.times { Fiber.schedule { closed_message { reader.gets } && closed += 1 } }
      Thread.pass until others.all? { |thread| thread[:scheduler]&.stats&.fetch(:operations) == 1 }
      Thread.new { reader.close }.join
      scheduler.run
      others.each { |thread| assert thread.join(ENOUGH) }
      assert_equal 4, closed
      assert_raises(WINDOWS ? SystemCallError : Errno::EBADF) { IO.for_fd(number, autoclose: false).stat }
      assert_raises(Errno::EPIPE) { writer.write("x") }
    end
  end

  def test_a_thread_that_is_killed_as_it_closes_leaves_nothing_behind
    skip_on_windows "it does not list descriptors"
    on_every_backend do |scheduler|
      scheduler.yield # which opens its loop
      GC.start
      before = descriptors
      50.times do
        reader, writer = IO.pipe
        Fiber.schedule { assert_raises(IOError) { reader.gets } }
        thread = Thread.new { reader.close }
        Thread.pass
        thread.kill.join
        reader.close
        writer.close
        scheduler.run
      end
      assert_operator descriptors - before, :<, 25 # others may go by the collector
    end
  end

  # Whoever closes waits for the loop of one, while the fibers of the other begin to wait.
  def test_fibers_of_two_threads_begin_to_read_what_is_being_closed
    BACKENDS.product(["x" * 10, BIG]).each do |backend, text|
      50.times do
        reader, writer = IO.pipe
        threads = Array.new(2) { Thread.new { wait_in_another_thread(backend, reader) } }
        Thread.new { writer.write(text) rescue nil } # rubocop:disable Style/RescueModifier
        sleep(rand * 0.003)
        reader.close
        threads.each { |thread| assert thread.join(ENOUGH) }
        writer.close
      end
    end
  end

  def test_one_of_several_is_closed
    skip SELECT_ASKED unless RUBY_VERSION.between?("3.2", "4")

    on_every_backend do |scheduler, backend|
      [true, false].product([0, 1]) do |threaded, which|
        readers = [IO.pipe, UNIXSocket.pair].map(&:first)
        Fiber.schedule { assert_equal MESSAGE, closed_message { IO.select(readers) }, backend }
        scheduler.yield
        Fiber.schedule { threaded ? Thread.new { readers[which].close }.join : readers[which].close }
        scheduler.run
      end
    end
  end

  # Something is ready by then that has the number of what was closed.
  def test_one_of_several_is_another_file_when_they_are_looked_at
    skip_on_windows "a descriptor is not duplicated to a number of choice"
    skip SELECT_ASKED unless RUBY_VERSION.between?("3.2", "4")

    on_every_backend do |scheduler, backend|
      readers = [IO.pipe, UNIXSocket.pair].map(&:first)
      ready, writer = IO.pipe
      writer.write("for another")
      Fiber.schedule { assert_equal MESSAGE, closed_message { IO.select(readers, nil, nil, 0.05) }, backend }
      scheduler.yield
      number = readers.first.fileno
      readers.first.close
      heir = IO.for_fd(ready.fcntl(Fcntl::F_DUPFD, number))
      scheduler.run
      heir.close
    end
  end

  # On Ruby 3.1 its fibers never go on.
  def test_what_fibers_of_a_killed_thread_waited_for_is_closed
    skip_on_windows "it does not list descriptors"
    BACKENDS.product(%i[closed_first killed_first ended_first]).each do |backend, order|
      GC.start
      before = descriptors
      20.times { close_and_kill(backend, order) }
      await_collected { descriptors - before < 5 } # a conservative collector may find some
    end
  end

  def test_a_child_that_is_forked_meanwhile_closes_it_too
    skip_without_fork
    BACKENDS.each { |backend| 10.times { assert_equal "closed", what_becomes_in_a_child(backend) } }
  end

  # Which may be kept until the loop is done with it; that of the child never is.
  def test_a_child_that_is_forked_later_has_nothing_of_it
    skip_without_fork
    on_every_backend do |scheduler, backend|
      reader, = IO.pipe
      number = reader.fileno
      Fiber.schedule { assert_equal MESSAGE, closed_message { reader.gets } }
      Thread.new { reader.close }.join
      child = fork { exit!(!File.exist?("/proc/self/fd/#{number}")) }
      assert_predicate Process.wait2(child).last, :success?, backend
      scheduler.run
    end
  end

  def test_one_half_of_a_process_is_closed
    on_every_backend do |scheduler|
      [true, false].each do |threaded|
        %i[close_read close_write].each { |half| close_half(scheduler, half, threaded) }
      end
    end
  end

  # As when another thread closes it, and is done with it when what was closed is looked for.
  def test_the_kernel_does_not_know_what_ruby_knows
    skip "the extension asks for each by itself" unless BACKENDS.include?("select")

    on_every_backend do |scheduler|
      reader, writer = IO.pipe
      Fiber.schedule { assert_equal "line\n", reader.gets }
      Fiber.schedule { sleep(0.001) && writer.puts("line") }
      select = IO.method(:select)
      refusals = [Errno::EBADF]
      IO.stub(:select, ->(*ios) { refusals.any? ? raise(refusals.shift) : select.call(*ios) }) { scheduler.run }
    end
  end

  # It goes on until it finds the end of what it is given, which it does not read before it is closed.
  def test_a_process_is_closed_that_was_written_to
    skip_on_windows "it has no Unix shell"
    on_every_backend do |scheduler|
      gate, opener = IO.pipe
      gate.nonblock = false
      io = IO.popen("read line <&3; cat >/dev/null", "r+", 3 => gate)
      Fiber.schedule { assert_includes [MESSAGE, "closed stream"], closed_message { io.write(BIG) } }
      Fiber.schedule do
        thread = Thread.new { io.close }
        sleep(0.001) until io.closed?
        opener.close
        thread.join
      end
      scheduler.run
    end
  end

  # Ruby closes it there by no method.
  def test_a_process_is_closed_at_the_end_of_its_block
    on_every_backend do |scheduler, backend|
      WAITS.each do |name, wait|
        [true, false].each do |threaded|
          Fiber.schedule do
            with_popen(threaded) { |io| Fiber.schedule { assert_equal MESSAGE, closed_message { wait.call(io) }, "#{backend}, #{name}" } }
          end
          scheduler.run
        end
      end
    end
  end

  # The process writes then, where Ruby had a buffer.
  def test_what_a_process_writes_after_the_end_of_its_block_is_written_nowhere
    skip_on_windows "it has no Unix shell"
    on_every_backend do |scheduler|
      pieces = []
      Fiber.schedule do
        IO.popen("read line; head -c 8000 /dev/zero; echo", "r+") do |io|
          Fiber.schedule { assert_equal MESSAGE, closed_message { io.gets } }
          Fiber.schedule do
            sleep(0.001) until io.closed?
            pieces.concat(Array.new(200) { "." * 8192 })
          end
        end
      end
      scheduler.run
      assert_equal ["." * 8192], pieces.uniq
    end
  end

  # So Ruby does with its own.
  def test_a_thread_that_is_killed_in_the_block_of_a_process_does_not_wait_for_it
    on_every_backend do |scheduler|
      opened = Thread::Queue.new
      thread = Thread.new { IO.popen(sleeping(100)) { |io| (opened << io) && sleep } }
      io = opened.pop
      pid = io.pid
      Fiber.schedule { assert_equal MESSAGE, closed_message { io.gets } }
      scheduler.yield
      assert thread.kill.join(ENOUGH)
      scheduler.run
    ensure
      Process.kill(:KILL, pid) if pid
    end
  end

  def test_the_only_half_is_closed
    on_every_backend do |scheduler|
      reader, = IO.pipe
      _, writer = IO.pipe
      Fiber.schedule { assert_equal MESSAGE, closed_message { reader.gets } }
      Fiber.schedule { assert_equal MESSAGE, closed_message { writer.write(BIG) } }
      Fiber.schedule { reader.close_read || writer.close_write }
      scheduler.run
      assert_equal [true, true], [reader, writer].map(&:closed?)
    end
  end

  # The other half goes on.
  def test_a_socket_is_shut_down
    on_every_backend do |scheduler|
      near, far = UNIXSocket.pair
      Fiber.schedule { assert_includes SHUT_DOWN, closed_message { near.read } }
      Fiber.schedule { assert_equal "line\n", far.gets }
      Fiber.schedule do
        on_thread(scheduler) { near.close_read }
        near.puts("line")
      end
      scheduler.run
      Fiber.schedule { assert_equal MESSAGE, closed_message { far.gets } }
      Fiber.schedule { far.close_write || on_thread(scheduler) { far.close_read } }
      scheduler.run
      assert_predicate far, :closed?
    end
  end

  # The other half goes on, and the kernel tells nobody.
  def test_who_writes_to_a_socket_that_is_shut_down
    on_every_backend do |scheduler|
      near, far = UNIXSocket.pair
      Fiber.schedule { assert_equal MESSAGE, closed_message { near.write(BIG) } }
      Fiber.schedule { assert_equal "line\n", near.gets }
      Fiber.schedule do
        on_thread(scheduler) { near.close_write }
        far.puts("line")
      end
      scheduler.run
      refute_predicate near, :closed?
    end
  end

  # A poll does not tell of it, as the socket is full.
  def test_who_is_about_to_wait_for_a_socket_that_is_shut_down
    skip "nothing comes between the try and the wait" unless BACKENDS.include?("select")

    on_every_backend { |scheduler| write_to_what_is_shut_down(scheduler) }
  end

  # As where Ruby does not ask for what it writes, but for the waits.
  def test_who_is_about_to_wait_for_a_socket_that_is_shut_down_and_that_ruby_writes
    skip_on_windows "what Ruby writes by itself blocks"
    skip "nothing comes between the try and the wait" unless BACKENDS.include?("select")

    on_every_backend do |scheduler|
      scheduler.singleton_class.undef_method(:io_write) if scheduler.respond_to?(:io_write)
      write_to_what_is_shut_down(scheduler)
    end
  end

  # For the collector.
  def test_what_was_written_is_not_held
    skip "the extension does not know objects" unless BACKENDS.include?("select")

    on_every_backend do |scheduler|
      _reader, writer = IO.pipe
      Fiber.schedule { writer.write("message") }
      scheduler.run
      assert(held_by(scheduler).none? { |object| object.equal?(writer) })
    end
  end

  # The loop has not had its turn yet, and would hand over then what the fiber has asked of it.
  def test_what_comes_after_the_end_of_what_has_not_begun
    on_every_backend do |scheduler|
      each_pair do |reader, writer|
        heir = reader.dup
        Fiber.schedule { assert_equal MESSAGE, closed_message { reader.readpartial(10) } }
        Thread.new do
          reader.close
          writer.write("message")
          writer.close
        end.join
        scheduler.run
        assert_equal "message", heir.read
      end
    end
  end

  # The loop waits, and would read what is there when it is woken.
  def test_what_comes_after_the_end_is_for_others
    on_every_backend do |scheduler|
      20.times do
        reader, writer = IO.pipe
        heir = reader.dup
        Fiber.schedule { assert_equal MESSAGE, closed_message { reader.read } }
        Thread.new do
          Thread.pass until scheduler.stats[:operations].positive?
          sleep(0.001) # for the loop to wait; should it not yet, all the same holds
          reader.close
          writer.write("message")
          writer.close
        end
        scheduler.run
        assert_equal "message", heir.read
      end
    end
  end

  # The former file stays open elsewhere, and has something by then.
  def test_who_waits_for_what_is_reopened_waits_for_the_new_file
    skip_on_windows REOPENED
    on_every_backend do |scheduler, backend|
      READS.to_a.product([true, false]) do |(name, read), threaded|
        each_reopening do |reader, former, reopen|
          Fiber.schedule { assert_equal "new\n", Timeout.timeout(ENOUGH) { read.call(reader) }, "#{backend}, #{name}" }
          scheduler.yield
          threaded ? on_thread(scheduler, &reopen) : reopen.call
          scheduler.yield # for the thread's loop to know of it
          former.write("former\n")
          scheduler.run
        end
      end
    end
  end

  def test_who_waits_for_room_in_what_is_reopened
    skip_on_windows REOPENED
    on_every_backend do |scheduler|
      each_pair do |_reader, writer|
        reader, other = IO.pipe
        rest = nil
        Fiber.schedule { writer.write(BIG) && writer.close }
        scheduler.yield
        writer.reopen(other)
        other.close
        Fiber.schedule { rest = reader.read }
        scheduler.run
        assert_operator rest.size, :>, 0
        assert BIG.end_with?(rest)
      end
    end
  end

  def test_what_is_reopened_is_closed
    skip_on_windows REOPENED
    on_every_backend do |scheduler|
      each_reopening(nil) do |reader, _former, reopen|
        2.times { Fiber.schedule { assert_equal MESSAGE, closed_message { reader.gets } } }
        scheduler.yield
        on_thread(scheduler) { reopen.call && reader.close }
        scheduler.run
      end
    end
  end

  def test_a_wait_for_what_is_reopened_ends_at_its_limit
    skip_on_windows REOPENED
    on_every_backend do |scheduler|
      each_reopening(nil) do |reader, _former, reopen|
        Fiber.schedule { assert_nil reader.wait_readable(0.05) }
        scheduler.yield
        reopen.call
        scheduler.run
      end
    end
  end

  def test_one_of_several_is_reopened
    skip_on_windows REOPENED
    skip SELECT_ASKED unless RUBY_VERSION >= "3.2"

    on_every_backend do |scheduler|
      each_reopening do |reader, _former, reopen|
        Fiber.schedule { assert_equal [[reader], [], []], IO.select([IO.pipe.first, reader], nil, nil, ENOUGH) }
        scheduler.yield
        reopen.call
        scheduler.run
      end
    end
  end

  # Ruby has the one be closed, or not, as the other is.
  def test_an_io_that_is_reopened_as_one_that_is_being_closed_is_closed
    BACKENDS.each do |backend|
      20.times do
        reader, writer = IO.pipe
        copy, = IO.pipe
        thread = with_reader(backend, reader)
        closer = Thread.new { reader.close }
        reopen_until_closed(copy, reader)
        [closer, thread].each { |other| assert other.join(ENOUGH) }
        assert_predicate copy, :autoclose?, backend
        [copy, writer].each(&:close)
      end
    end
  end

  # Since Ruby 3.2, where whoever closes it waits for the fiber that writes.
  def test_an_io_that_is_reopened_as_one_whose_closing_begins_then_is_closed
    skip WRITER_FIRST if BACKENDS.include?("select")

    on_every_backend do |scheduler, backend|
      near, = with_writer(scheduler)
      reader, copy = full_pipe
      reopener = Thread.new { reopen_until_closed(copy, near, times: 1) }
      Thread.pass until reopener.stop?
      closer = start_closing(near)
      Timeout.timeout(ENOUGH) { Thread.pass while reader.read_nonblock(65_536, exception: false) && reopener.alive? }
      assert_predicate copy, :autoclose?, backend
      scheduler.run
      closer.join
    end
  end

  # Nor by Ruby and by us: its number is another's by then.
  def test_what_is_being_closed_is_not_closed_twice
    skip WRITER_FIRST if BACKENDS.include?("select")

    on_every_backend do |scheduler, backend|
      [->(io) { io.reopen(File::NULL, "r+") }, ->(io) { io.autoclose = true }].each do |change|
        near, = with_writer(scheduler)
        other, = IO.pipe
        number = near.fileno
        gate = Thread::Queue.new
        thread = with_idle_reader(backend, near, gate)
        closer = start_closing(near)
        begin
          change.call(near)
        rescue IOError
          nil
        end
        scheduler.run
        closer.join
        heir = IO.for_fd(other.fcntl(Fcntl::F_DUPFD, number))
        gate << true
        assert thread.join(ENOUGH)
        assert_predicate heir.stat, :pipe?, backend
        heir.close
      end
    end
  end

  # It has to wait on.
  def test_another_takes_what_several_are_told_of
    skip SELECT_ASKED unless RUBY_VERSION >= "3.2"

    on_every_backend do |scheduler, backend|
      reader, writer = IO.pipe
      taken = []
      2.times { Fiber.schedule { taken << IO.select([reader], nil, nil, ENOUGH)&.first << reader.read_nonblock(1, exception: false) } }
      Fiber.schedule { "ab".each_char { |char| writer.write(char) && sleep(0.01) } }
      scheduler.run
      assert_equal [[reader], "a", [reader], "b"], taken, backend
    end
  end

  def test_what_cannot_be_closed_by_half_is_waited_for
    on_every_backend do |scheduler|
      reader, writer = IO.pipe
      Fiber.schedule { assert_equal "line\n", reader.gets }
      Fiber.schedule do
        assert_raises(IOError) { reader.close_write }
        assert_raises(IOError) { writer.close_read }
        writer.puts("line")
      end
      scheduler.run
    end
  end

  # Modules that IO has among its ancestors are anybody's.
  def test_another_object_that_is_closed_as_an_io
    closing = IO.ancestors.first(2).find { |ancestor| ancestor.method_defined?(:close, false) } or return
    other = Class.new { include closing }.new
    on_every_backend do
      Fiber.schedule { sleep(0.001) }
      assert_raises(NoMethodError) { other.close }
    end
  end

  private

  def closed_message
    Timeout.timeout(ENOUGH) { yield.to_s }
  rescue IOError => e
    e.message
  end

  # As far as it goes through arrays, hashes and objects of this library.
  def held_by(holder, found = [])
    ObjectSpace.reachable_objects_from(holder).each do |object|
      next if found.any? { |other| other.equal?(object) }

      found << object
      held_by(object, found) if object.instance_of?(Array) || object.instance_of?(Hash) || object.class.name.start_with?("Upwell")
    end
    found
  end

  def write_to_what_is_shut_down(scheduler)
    near, _far = UNIXSocket.pair
    shut_down_before_wait(scheduler)
    Fiber.schedule { assert_raises(IOError, Errno::EPIPE) { Timeout.timeout(ENOUGH) { near.write(BIG) } } }
    scheduler.run
  end

  # By another thread, and without giving way.
  def shut_down_before_wait(scheduler)
    scheduler.define_singleton_method(:io_wait) do |io, *wanted|
      thread = Thread.new { io.close_write }
      Thread.pass while thread.alive?
      super(io, *wanted)
    end
  end

  # @return [Array(Socket, Socket)] of which a fiber writes the first, and has its lock
  def with_writer(scheduler)
    near, far = UNIXSocket.pair
    near.sync = false
    near.set_encoding(Encoding::UTF_16LE) # what is to be written at its end
    Fiber.schedule { near.write("begin") && closed_message { near.write(BIG) } }
    scheduler.yield
    [near, far]
  end

  # @return [Thread]
  def start_closing(io)
    Thread.new { io.close }.tap { |thread| Thread.pass until thread.stop? }
  end

  # @return [Array(IO, IO)] whose writer has more to write before it is another file
  def full_pipe
    reader, writer = IO.pipe
    Thread.pass while writer.write_nonblock("x" * 4096, exception: false).is_a?(Integer)
    writer.nonblock = writer.sync = false
    writer.write("rest")
    [reader, writer]
  end

  def reopen_until_closed(copy, io, times: 50)
    times.times { copy.reopen(io) && Thread.pass }
  rescue IOError, Errno::EBADF
    nil # closed by then
  end

  # Its loop has no turn before the gate opens.
  def with_idle_reader(backend, reader, gate)
    waits = Thread::Queue.new
    thread = Thread.new do
      Fiber.set_scheduler(Upwell::Scheduler.new(backend: backend))
      Fiber.schedule { closed_message { reader.wait_readable } }
      waits << true
      gate.pop
      Fiber.scheduler.run
    end
    waits.pop
    thread
  end

  def close_and_kill(backend, order)
    reader, writer = IO.pipe
    thread = Thread.new { wait_in_another_thread(backend, reader) }
    Thread.pass until thread[:scheduler]&.stats&.fetch(:operations) == 1
    reader.close if order == :closed_first
    thread.kill
    thread.join if order == :ended_first
    reader.close
    thread.join
    writer.close
  end

  # Fills what was freed.
  def close_and_write(reader, writer)
    reader.close
    pieces = Array.new(200) { "." * 8192 }
    writer.write_nonblock("x" * 8192)
    pieces
  rescue Errno::EPIPE
    pieces
  end

  def wait_in_another_thread(backend, reader)
    Fiber.set_scheduler(scheduler = Thread.current[:scheduler] = Upwell::Scheduler.new(backend: backend))
    message = nil
    Fiber.schedule { message = closed_message { reader.gets } }
    scheduler.run
    message
  end

  # Its block ends when the fiber waits that it has begun.
  def with_popen(threaded, &block)
    return IO.popen(CAT, "r+", &block) unless threaded

    opened = Thread::Queue.new
    waits = Thread::Queue.new
    thread = Thread.new { IO.popen(CAT, "r+") { |io| (opened << io) && waits.pop } }
    block.call(opened.pop)
    waits << true
    thread.join
  end

  def close_half(scheduler, half, threaded)
    io = IO.popen(sleeping(10), "r+")
    Fiber.schedule { assert_equal MESSAGE, closed_message { half == :close_read ? io.gets : io.write(BIG) } }
    scheduler.yield
    Fiber.schedule { threaded ? Thread.new { io.public_send(half) }.join : io.public_send(half) }
    scheduler.run
  ensure
    Process.kill(:KILL, io.pid)
    io.close
  end

  # A fiber of another thread waits for an IO, which this one closes as a third one forks.
  #
  # @return [String] "closed" or "open": what it is there when the child has closed it too
  def what_becomes_in_a_child(backend)
    reader, writer = IO.pipe
    thread = with_reader(backend, reader)
    forks = Thread::Queue.new
    said, says = IO.pipe
    forker = Thread.new do
      forks.pop
      fork { exit!(says.write(after_closing(reader)).positive?) }
    end
    forks << true
    reader.close
    Process.wait(forker.value)
    thread.join
    says.close
    said.read
  ensure
    [reader, writer, said, says].compact.each(&:close)
  end

  def with_reader(backend, reader)
    waits = Thread::Queue.new
    thread = Thread.new do
      Fiber.set_scheduler(Upwell::Scheduler.new(backend: backend))
      Fiber.schedule { assert_raises(IOError) { reader.read(1) } }
      waits << true
      Fiber.scheduler.run
    end
    waits.pop
    Thread.pass until thread.stop?
    thread
  end

  def after_closing(reader)
    return "closed" if reader.closed?

    number = reader.fileno
    node = reader.stat.ino
    reader.close
    File.stat("/proc/self/fd/#{number}").ino == node ? "open" : "closed"
  rescue Errno::ENOENT
    "closed"
  end

  def descriptors
    Dir.children("/proc/self/fd").size
  end
end
