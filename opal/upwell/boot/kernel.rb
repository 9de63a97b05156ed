# backtick_javascript: true
# frozen_string_literal: true

# What Ruby's own Kernel, Process and errors have besides.
class LoadError
  def path
    message[/cannot load such file -- (.*)/, 1]
  end
end

module Kernel
  # By the numbers of objects, as Opal has it, nil and 1.5 would be one.
  def ===(other)
    equal?(other) || self == other
  end

  def singleton_methods(_all = true)
    methods = `self.$$meta ? Object.getOwnPropertyNames(self.$$meta.$$prototype) : []`
    methods.select { |name| name.start_with?("$") && !name.start_with?("$$") }.map { |name| name[1..] }
  end

  def singleton_method(name)
    method(name)
  end

  def display(io = $stdout)
    io.write(self)
    nil
  end
end

class Module
  # Whoever asks which methods are private is told; they can be called nevertheless.
  def private(*names)
    names = names.flatten
    names.each { |name| `(self.$$privates ||= new Set()).add(name.valueOf())` }
    names.size == 1 ? names.first : names
  end

  def public(*names)
    names = names.flatten
    names.each { |name| `self.$$privates && self.$$privates.delete(name.valueOf())` }
    names.size == 1 ? names.first : names
  end

  def private_instance_methods(inherited = true)
    (inherited ? ancestors : [self]).flat_map { |owner| `Array.from(owner.$$privates || [], Opal.symbol)` }.uniq
  end

  def private_method_defined?(name, inherited = true)
    private_instance_methods(inherited).any? { |one| one == name }
  end

  alias const_defined_here? const_defined?

  # @param name [String, Symbol] one within another, too: "A::B"
  def const_defined?(name, inherit = true)
    first, rest = name.to_s.delete_prefix("::").split("::", 2)
    const_defined_here?(first, inherit) && (rest.nil? || const_get(first).const_defined?(rest, inherit))
  end

  def deprecate_constant(*)
    self
  end

  def const_source_location(*)
    []
  end

  alias alias_method_of_eval alias_method

  # The class that `instance_eval` is at work on shall give a method of its instances another name, not one of its own.
  def alias_method(new_name, old_name)
    evaluates = `self.$$eval`
    `self.$$eval = false`
    alias_method_of_eval(new_name, old_name)
  ensure
    `self.$$eval = evaluates`
  end

  alias define_method_of_block define_method

  # Methods that a module has made its own functions (module_function) can be given to others, too.
  def define_method(name, method = undefined, &block)
    return define_method_of_block(name, method || block) unless UnboundMethod === method && method.owner.singleton_class?

    `Opal.defn(self, Opal.jsid(name), method.$$method)`
  end
end

class Exception
  def ==(other)
    equal?(other) || (other.class == self.class && other.message == message && other.backtrace == backtrace)
  end
end

class Method
  def parameters
    `self.method.$$parameters || []`
  end

  def ==(other)
    Method === other && other.receiver.equal?(receiver) && other.name == name && other.owner == owner
  end

  alias eql? ==

  def hash
    [receiver.object_id, name].hash
  end

  def original_name
    name
  end
end

class UnboundMethod
  def parameters
    `self.method.$$parameters || []`
  end

  def ==(other)
    UnboundMethod === other && other.name == name && other.owner == owner
  end

  alias eql? ==
end

class Time
  def round(digits = 0)
    `new Date(Math.round(self.getTime() / #{10**(3 - digits)}) * #{10**(3 - digits)})`
  end

  def floor(digits = 0)
    `new Date(Math.floor(self.getTime() / #{10**(3 - digits)}) * #{10**(3 - digits)})`
  end

  def ceil(digits = 0)
    `new Date(Math.ceil(self.getTime() / #{10**(3 - digits)}) * #{10**(3 - digits)})`
  end

  def nsec
    usec * 1000
  end

  alias tv_nsec nsec

  def subsec
    nsec / 1_000_000_000.0
  end

  def getlocal(*)
    `var copy = new Date(self.getTime())`
    `copy`
  end

  alias localtime getlocal
end

module Enumerable
  def chain(*others)
    Enumerator.new { |out| [self, *others].each { |one| one.each { |value| out << value } } }
  end
end

class Enumerator
  def self.produce(*initial)
    Enumerator.new do |out|
      value = initial.empty? ? yield : initial.first
      loop do
        out << value
        value = yield value
      end
    end
  end
end

class Set
  def &(other)
    Set.new(other.to_a.select { |one| include?(one) })
  end

  alias intersection &

  def ^(other)
    other = other.to_set
    (self | other).reject { |one| include?(one) && other.include?(one) }.to_set
  end

  def join(separator = nil)
    to_a.join(separator)
  end

  def to_set
    self
  end

  def flatten
    Set.new(to_a.flat_map { |one| Set === one ? one.flatten.to_a : [one] })
  end
end

class String
  def grapheme_clusters
    `Array.from(new Intl.Segmenter().segment(self.valueOf()), (one) => one.segment)`
  end

  def each_grapheme_cluster(&block)
    block ? grapheme_clusters.each(&block) : grapheme_clusters.each
  end
end

class Thread
  # Others can only signal where there are others.
  class ConditionVariable
    def wait(*)
      raise ThreadError, "there is one thread: waiting for another would be for ever"
    end

    def signal
      self
    end

    alias broadcast signal
  end

  # A queue with a limit.
  class SizedQueue < Queue
    attr_reader :max

    def initialize(max)
      @max = max
      super()
    end
  end

  Mutex = ::Mutex
end

ConditionVariable = Thread::ConditionVariable
SizedQueue = Thread::SizedQueue
ClosedQueueError = Class.new(StopIteration) unless defined?(ClosedQueueError)

# The collector of garbage is not to be asked anything here.
{ start: nil, stat: {}, count: 0, enable: false, disable: false, compact: nil }.each do |name, answer|
  GC.define_singleton_method(name) { |*| answer }
end

Process.singleton_class.define_method(:argv0) { $0 }

autoload :Marshal, "upwell/boot/marshal"
autoload :Gem, "upwell/boot/gem"
autoload :ObjectSpace, "corelib/object_space"
autoload :PatternMatching, "corelib/pattern_matching"
autoload :TracePoint, "corelib/trace_point"
require "corelib/pattern_matching/base"

class NilClass
  def ===(other)
    other.nil?
  end
end

# Ruby has them loaded, too, when a program starts.
autoload :StringIO, "stringio"
autoload :Monitor, "monitor"
autoload :MonitorMixin, "monitor"

class IO
  STANDARD = %w[<STDIN> <STDOUT> <STDERR>].freeze

  # @return [String]
  def inspect
    "#<IO:#{STANDARD[fileno] || "fd #{fileno}"}>"
  end
end

class Struct
  alias get_by_name []
  alias set_by_name []=

  def [](name)
    get_by_name(Symbol === name ? name.to_s : name)
  end

  def []=(name, value)
    set_by_name(Symbol === name ? name.to_s : name, value)
  end
end
