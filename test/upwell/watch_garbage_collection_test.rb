# frozen_string_literal: true

require_relative "../test_helper"

# What a loop or a selector refers to must be seen by the collector, and survive being moved.
class WatchGarbageCollectionTest < Minitest::Test
  def test_a_loop_while_every_allocation_collects
    each_backend(1) do |backend| # the collector does not know which backend is in use
      use_loop(Upwell::Loop.new(backend: backend), 2) { |&use| under_stress(&use) }
    end
  end

  def test_loops_and_selectors_that_begin_while_every_allocation_collects
    each_backend(1) do |backend|
      made = under_stress { [Upwell::Loop, Upwell::Selector].map { |type| type.new(backend: backend) } }
      assert_equal [backend] * 2, made.map(&:backend)
    end
  end

  def test_a_loop_whose_objects_move
    each_backend do |backend|
      compacting { use_loop(Upwell::Loop.new(backend: backend), 100) }
    end
  end

  def test_a_selector_whose_objects_move
    each_backend do |backend|
      compacting { use_selector(Upwell::Selector.new(backend: backend), 100) }
    end
  end

  def test_loops_and_selectors_that_are_dropped_with_watches
    each_backend do |backend|
      reader, writer = IO.pipe
      drop_many(backend, reader)
      GC.start
      # Those that still are there do not matter: there are ten times as many.
      assert_operator descriptors, :<, 150
      writer << "x"
      assert_equal "x", reader.read_nonblock(1)
      [reader, writer].each(&:close)
    end
  end

  def test_a_dropped_key_is_collected
    each_backend do |backend|
      loop = Upwell::Loop.new(backend: backend)
      100.times { |i| loop.emit("key #{i}") && loop.next_event }
      100.times { |i| loop.watch_timer("key #{i}", 0) && loop.next_event }
      GC.start
      count = ObjectSpace.each_object(String).count { |string| string.start_with?("key ") }
      assert_operator count, :<, 50
    end
  end

  private

  def each_backend(count = BACKENDS.size, &block)
    names = BACKENDS - ["select"]
    skip "the extension was not loaded" if names.empty?
    names.first(count).each(&block)
  end

  def under_stress
    GC.stress = true
    yield
  ensure
    GC.stress = false
  end

  def compacting
    skip "this Ruby does not compact" unless GC.respond_to?(:verify_compaction_references)
    skip "auto_compact breaks Ruby 3.1's own table of methods" if RUBY_VERSION < "3.2"
    before = GC.auto_compact
    GC.auto_compact = true
    yield
  ensure
    GC.auto_compact = before unless before.nil?
  end

  # Keys that only the loop refers to.
  def use_loop(loop, count, &around)
    ends = Array.new(count) { IO.pipe }
    around ||= ->(&use) { use.call }
    around.call { watch_and_emit(loop, ends) }
    ends.map(&:last).each { |writer| writer << "x" }
    keys = around.call { collect(loop, (2 * count) + 1) }
    assert_equal count, keys.count { |name, _| name == "emitted" }
    assert_equal (0...count).to_a, keys.filter_map { |name, index| index if name == "io" }.uniq.sort
    ends.flatten.each(&:close)
  end

  def watch_and_emit(loop, ends)
    ends.each_with_index { |(reader, _), index| loop.watch_io(["io", index], reader, false, index.even?) }
    loop.watch_timer(%w[timer], 0.001, 0.001)
    ends.size.times { |index| loop.emit(["emitted", index]) }
    GC.start
  end

  # Events until there are so many different ones.
  def collect(loop, count)
    keys = []
    until keys.uniq.size == count
      keys << loop.next_event
      keys.compact!
      GC.start if (keys.size % 50) == 1
    end
    keys
  end

  def use_selector(selector, count)
    ends = Array.new(count) { IO.pipe }
    numbers = ends.map { |reader, _| reader.fileno }
    ends.map(&:first).each { |reader| selector.register(reader, IO::READABLE) }
    writers = ends.map(&:last).each { |writer| writer << "x" }
    ends.clear # now the selector alone refers to the readers
    GC.start
    assert_equal numbers.sort, selector.wait.map { |io, _| io.fileno }.sort
    selector.wait { |io, _| selector.deregister(io) && io.close }
    assert_empty selector.wait(0)
    writers.each(&:close)
    selector.close
  end

  def drop_many(backend, reader)
    500.times do
      loop = Upwell::Loop.new(backend: backend)
      loop.watch_io(:pipe, reader, false, false)
      loop.watch_timer(:timer, 100)
      loop.emit(:unused)
      loop.signal
      loop.next_event
      selector = Upwell::Selector.new(backend: backend)
      selector.register(reader, IO::READABLE)
      selector.wait(0)
    end
  end

  def descriptors
    Dir.children("/proc/self/fd").size
  end
end
