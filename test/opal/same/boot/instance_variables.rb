# frozen_string_literal: true

# Instance variables whose names mean something to JavaScript.
class Named
  @name = "q"
  @length = 3
  @prototype = 4
  @call = nil

  class << self
    attr_accessor :length, :prototype, :bind
    attr_writer :name

    def label = @name || "none"
    def count = @length
    def call = @call ||= "called"
    def apply = @apply
    def bound = [@bind, @caller, @arguments, @toString]
  end
end
p Named.label, Named.count, Named.length, Named.prototype, Named.call, Named.apply, Named.bound, Named.name, Named.to_s
Named.name = "z"
Named.length = 5
Named.prototype = 6
Named.bind = 7
p Named.label, Named.count, Named.prototype, Named.bound, Named.name, Named.new.class, Class.new(Named).label

class Bare
  class << self
    attr_reader :label

    def named = @name
    def long = @length
  end
end
p Bare.named, Bare.long, Bare.instance_variable_get(:@name), Bare.instance_variable_set(:@name, "x"), Bare.named

module Modular
  @name = "module"
  def self.label = @name
end
p Modular.label, Modular.name

class Attributes
  attr_accessor :arguments, :caller, :prototype, :constructor, :name, :length, :stack, :call

  def initialize(all)
    @arguments, @caller, @prototype, @constructor, @name, @length, @stack = all
  end

  def set(value)
    self.arguments = value
    [@arguments, instance_variable_get(:@arguments), @call]
  end

  def unset = [@toString, @apply, @bind]
end
one = Attributes.new([1, 2, 3, 4, 5, 6, 7])
p one.arguments, one.caller, one.prototype, one.constructor, one.name, one.length, one.stack, one.set(9), one.unset
p one.instance_variables.first(3).map(&:to_s), one.instance_variable_get(:@caller), one.instance_variable_defined?(:@prototype)

class Failure < StandardError
  def initialize(stack)
    @stack = stack
    super("failed")
  end
  attr_reader :stack
end
begin
  raise Failure, %w[a b]
rescue Failure => e
  p e.stack, e.message, e.backtrace.is_a?(Array)
end
p Class.new { p attr_reader(:a), attr_accessor(:b), attr_writer(:c, :d) }.new.respond_to?(:b=)
p Named.instance_method(:then).is_a?(UnboundMethod), Attributes.instance_method(:name=).arity, Attributes.instance_method(:name).arity
