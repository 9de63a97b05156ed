# backtick_javascript: true
# frozen_string_literal: true

# Methods of Ruby's Kernel, Process and errors that Opal lacks.
class LoadError
  def path
    message[/cannot load such file -- (.*)/, 1]
  end
end

module Kernel
  # Opal compares object ids, by which nil and 1.5 would be equal.
  def ===(other)
    equal?(other) || self == other
  end

  def instance_variable_defined?(name)
    `Object.hasOwn(self, Opal.ivar(#{Opal.instance_variable_name!(name)}.slice(1)))`
  end

  def singleton_methods(_all = true)
    methods = `self.$$meta ? Object.getOwnPropertyNames(self.$$meta.$$prototype) : []`
    methods.select { |name| name.start_with?("$") && !name.start_with?("$$") }.map { |name| name[1..] }
  end

  def singleton_method(name)
    method(name)
  end

  alias method_of_class method

  def method(name)
    body = `self[Opal.jsid(name)]`
    return method_of_class(name) if `typeof body === 'function' && !body.$$stub` || !respond_to_missing?(name, true)

    Method.new(self, self.class, `(...all) => self.$method_missing(#{name.to_sym}, ...all)`, name)
  end

  def display(io = $stdout)
    io.write(self)
    nil
  end
end

class Module
  def attr_reader(*names)
    names.map do |name|
      %x{
        var variable = Opal.ivar(name);
        Opal.deny_frozen_access(self);
        Opal.prop(self.$$prototype, variable, nil);
        Opal.defn(self, Opal.jsid(name), Object.assign(Opal.return_ivar(variable), { $$parameters: [], $$arity: 0 }));
      }
      name.to_sym
    end
  end

  def attr_writer(*names)
    names.map do |name|
      %x{
        var variable = Opal.ivar(name);
        Opal.deny_frozen_access(self);
        Opal.prop(self.$$prototype, variable, nil);
        Opal.defn(self, Opal.jsid(name + '='), Object.assign(Opal.assign_ivar(variable), { $$parameters: [['req']], $$arity: 1 }));
      }
      `Opal.symbol(name + '=')`
    end
  end

  def attr_accessor(*names)
    names.flat_map { |name| attr_reader(name) + attr_writer(name) }
  end

  alias const_defined_here? const_defined?

  # @param name [String, Symbol] a name, which may be nested: "A::B"
  def const_defined?(name, inherit = true)
    first, rest = name.to_s.delete_prefix("::").split("::", 2)
    const_defined_here?(first, inherit) && (rest.nil? || const_get(first).const_defined?(rest, inherit))
  end

  def deprecate_constant(*)
    self
  end

  # An Array keeps its last Hash unchanged.
  def ruby2_keywords(*); end

  def const_source_location(*)
    []
  end

  alias alias_method_of_eval alias_method

  # Within `instance_eval`, a class gives its instances' method another name, and not its singleton's.
  def alias_method(new_name, old_name)
    evaluates = `self.$$eval`
    `self.$$eval = false`
    alias_method_of_eval(new_name, old_name)
  ensure
    `self.$$eval = evaluates`
  end

  alias define_method_of_block define_method

  # Module functions (module_function) can be defined in other modules, too.
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

class Range
  alias each_of_numbers each

  # A range up to Infinity has no end.
  def each(&block)
    endless = `self.end === Infinity && Number.isInteger(self.begin)`
    endless && block ? Range.new(self.begin, nil).each_of_numbers(&block) && self : each_of_numbers(&block)
  end
end

module Enumerable
  alias sum_of_numbers sum

  def sum(initial = 0, &block)
    return sum_of_numbers(initial, &block) if Numeric === initial

    inject(initial) { |sum, value| sum + (block ? yield(value) : value) }
  end

  def zip(*others, &block)
    pairs = to_a.zip(*others)
    block ? pairs.each(&block) && nil : pairs
  end

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

  def inspect
    "#<Set: {#{map(&:inspect).join(", ")}}>"
  end

  alias to_s inspect
  alias === include?

  def <=>(other)
    return nil unless Set === other
    return 0 if self == other

    self < other ? -1 : (1 if self > other)
  end

  def intersect?(other)
    other.any? { |one| include?(one) }
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
  # No other thread can signal.
  class ConditionVariable
    def wait(*)
      raise ThreadError, "a JavaScript runtime has one thread, so no other thread can end this wait"
    end

    def signal
      self
    end

    alias broadcast signal
  end

  # A queue with a size limit.
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

# JavaScript has no interface to its garbage collector.
{ start: nil, stat: {}, count: 0, enable: false, disable: false, compact: nil }.each do |name, answer|
  GC.define_singleton_method(name) { |*| answer }
end

$0 = $PROGRAM_NAME = `process.argv[1] || "node"`
Process.singleton_class.define_method(:argv0) { $0 }

autoload :Marshal, "upwell/boot/marshal"
autoload :Gem, "upwell/boot/gem_version"
autoload :ObjectSpace, "corelib/object_space"
autoload :PatternMatching, "upwell/boot/pattern_matching"
autoload :TracePoint, "corelib/trace_point"
require "corelib/pattern_matching/base"

class NilClass
  def ===(other)
    other.nil?
  end

  def =~(_)
    nil
  end
end

# Ruby also has these loaded when a program starts.
autoload :StringIO, "stringio"
autoload :Monitor, "monitor"
autoload :MonitorMixin, "monitor"

class IO
  `const STANDARD = ["#<IO:<STDIN>>", "#<IO:<STDOUT>>", "#<IO:<STDERR>>"]`

  # @return [String]
  def inspect
    number = fileno
    `STANDARD[number]` || "#<IO:fd #{number}>"
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
