# frozen_string_literal: true

# Delegates methods to an object found by a variable or a chain of calls: "@items", :items, "self.class".
module Forwardable
  VERSION = "1.3.3"

  # Finds the object to which methods are delegated.
  module Receiver
    module_function

    def of(object, accessor)
      accessor = accessor.to_s
      return object.instance_variable_get(accessor) if accessor.start_with?("@")

      accessor.split(".").inject(object) { |receiver, name| name == "self" ? receiver : receiver.__send__(name) }
    end
  end

  def instance_delegate(hash)
    hash.each do |methods, accessor|
      Array(methods).each { |method| def_instance_delegator(accessor, method) }
    end
  end

  def def_instance_delegators(accessor, *methods)
    methods.each do |method|
      def_instance_delegator(accessor, method) unless %w[__send__ __id__].include?(method.to_s)
    end
  end

  def def_instance_delegator(accessor, method, name = method)
    define_method(name) { |*arguments, &block| Receiver.of(self, accessor).__send__(method, *arguments, &block) }
    name
  end

  alias delegate instance_delegate
  alias def_delegators def_instance_delegators
  alias def_delegator def_instance_delegator
end

# Delegates methods of a single object.
module SingleForwardable
  def single_delegate(hash)
    hash.each do |methods, accessor|
      Array(methods).each { |method| def_single_delegator(accessor, method) }
    end
  end

  def def_single_delegators(accessor, *methods)
    methods.each { |method| def_single_delegator(accessor, method) }
  end

  def def_single_delegator(accessor, method, name = method)
    define_singleton_method(name) do |*arguments, &block|
      receiver = accessor.is_a?(Module) ? accessor : Forwardable::Receiver.of(self, accessor)
      receiver.__send__(method, *arguments, &block)
    end
    name
  end

  alias delegate single_delegate
  alias def_delegators def_single_delegators
  alias def_delegator def_single_delegator
end
