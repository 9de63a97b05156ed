# frozen_string_literal: true

# Calls the public methods of loop, selector and scheduler with arguments of wrong types, and prints the result of each call. With UPWELL_PURE=1
# the output is to be the same.

require "timeout"
require "upwell"

module WrongArgumentTypes
  WAIT_MAX = 10 # seconds, for a call that does not fail
  CLOSED = IO.pipe.each(&:close).first
  NO_IO = Struct.new(:to_io).new(5)
  OBJECTS = { "nil" => nil, "true" => true, "a String" => "1", "a Symbol" => :a, "an Array" => [], "a Class" => Object, "2**70" => 2**70 }.freeze
  TIMES = { **OBJECTS, "NaN" => Float::NAN, "Infinity" => Float::INFINITY, "1e30" => 1e30, "-1" => -1, "a Complex" => Complex(1, 1),
                       "a Rational" => 0.01r, "2**70/3r" => Rational(2**70, 3), "a Time" => Time.at(0) }.freeze
  NUMBERS = { **OBJECTS, "1.5" => 1.5, "-1" => -1, "8" => 8, "0" => 0 }.freeze
  IOS = { **OBJECTS, "a closed IO" => CLOSED, "no IO by to_io" => NO_IO }.freeze
  UNINITIALIZED = {
    Loop: { watch_timer: [:a, 1], watch_io: [:a, $stdin, false, true], watch_fd: [:a, 0, false, true], unwatch: [:a], emit: [:a], signal: [],
            stop: [], next_event: [], each: [], backend: [] },
    Selector: { register: [$stdin, 1], deregister: [$stdin], wait: [], wakeup: [], backend: [], close: [], closed?: [] }
  }.freeze

  class << self
    def run
      loop_calls
      selector_calls
      scheduler_calls
      uninitialized_calls
    end

    private

    def report(name)
      Timeout.timeout(WAIT_MAX) { yield }
    rescue Exception => e # rubocop:disable Lint/RescueException -- NoMemoryError, too
      $stdout.puts "#{name}: #{e.class}: #{e.message.gsub(/0x\h+/, "0x").dump}"
    else
      $stdout.puts "#{name}: returns"
    end

    def each_of(name, objects)
      objects.each { |what, object| report("#{name} #{what}") { yield object } }
    end

    def loop_calls
      each_of("watch_timer", TIMES) { |time| Upwell::Loop.new.watch_timer(:a, time) }
      each_of("watch_timer with the interval", TIMES) { |time| Upwell::Loop.new.watch_timer(:a, 1, time) }
      each_of("watch_io", IOS) { |io| Upwell::Loop.new.watch_io(:a, io, false, true) }
      each_of("watch_fd", NUMBERS.reject { |_, number| [1.5, 8].include?(number) }) { |number| Upwell::Loop.new.watch_fd(:a, number, false, true) }
      report("emit") { Upwell::Loop.new.emit }
      report("watch_timer twice") { Upwell::Loop.new.then { |loop| 2.times { loop.watch_timer(nil, 1) } } }
    end

    def selector_calls
      each_of("register", IOS) { |io| Upwell::Selector.new.register(io, 1) }
      each_of("register with the interest", NUMBERS) { |number| Upwell::Selector.new.register($stdin, number) }
      each_of("deregister", IOS) { |io| Upwell::Selector.new.deregister(io) }
      each_of("wait", TIMES) { |time| Upwell::Selector.new.wakeup.wait(time) }
      UNINITIALIZED[:Selector].each do |name, arguments|
        report("#{name} of a closed selector") { Upwell::Selector.new.tap(&:close).public_send(name, *arguments) }
      end
    end

    def scheduler_calls
      time_calls
      io_calls
      each_of("process_wait with the flags", NUMBERS) { |number| schedule { |scheduler| scheduler.process_wait(99_999_999, number) } }
      each_of("unblock", OBJECTS) { |fiber| schedule { |scheduler| scheduler.unblock(nil, fiber) } }
      each_of("address_resolve", OBJECTS.except("a String", "true")) { |name| schedule { |scheduler| scheduler.address_resolve(name) } }
      report("fiber without a block") { schedule(&:fiber) }
      report("timeout_after without a block") { schedule { |scheduler| scheduler.timeout_after(1, RuntimeError, "x") } }
      %i[run close].each { |name| report("#{name} in a fiber") { schedule(&name) } }
      %i[run yield kernel_sleep].each { |name| report("#{name} of a closed scheduler") { Upwell::Scheduler.new.tap(&:close).public_send(name) } }
    end

    def time_calls
      limits = TIMES.except("nil", "NaN", "Infinity", "1e30", "2**70", "2**70/3r") # which are for ever
      each_of("kernel_sleep", TIMES.except("nil")) { |time| schedule { |scheduler| scheduler.kernel_sleep(time) } }
      each_of("block", limits) { |time| schedule { |scheduler| scheduler.block(:x, time) } }
      each_of("timeout_after", TIMES) { |time| schedule { |scheduler| scheduler.timeout_after(time, RuntimeError, "x") { 1 } } }
      each_of("io_wait with the limit", TIMES.except("nil")) { |time| schedule { |scheduler| scheduler.io_wait(IO.pipe.first, 1, time) } }
      each_of("IO.select with the limit", TIMES.except("nil")) { |time| schedule { IO.select([IO.pipe.last], nil, nil, time) } }
    end

    def io_calls
      each_of("io_wait", IOS) { |io| schedule { |scheduler| scheduler.io_wait(io, 1, 0) } }
      each_of("io_wait for the events", NUMBERS.except("0", "8")) do |events|
        schedule { |scheduler| scheduler.io_wait(IO.pipe.first, events, 0) }
      end
      each_of("IO.select", IOS) { |io| schedule { IO.select([io], nil, nil, 0) } }
      each_of("IO.select of no Array", IOS) { |io| schedule { IO.select(io, nil, nil, 0) } }
    end

    # In a fiber of a scheduler.
    def schedule
      error = nil
      Thread.new do
        Fiber.set_scheduler(scheduler = Upwell::Scheduler.new)
        Fiber.schedule do
          Timeout.timeout(WAIT_MAX) { yield scheduler }
        rescue Exception => e # rubocop:disable Lint/RescueException
          error = e
        end
      end.join
      raise error if error
    end

    def uninitialized_calls
      UNINITIALIZED.each do |name, calls|
        subclass = Class.new(Upwell.const_get(name)) { define_method(:initialize) { nil } }
        calls.each { |method, arguments| report("#{name}##{method} without initialize") { subclass.new.public_send(method, *arguments) } }
      end
    end
  end
end

WrongArgumentTypes.run
