# frozen_string_literal: true

require_relative "../integer_inference"
require_relative "rewriter"

module Upwell
  module Opal
    class Build
      module Rewriters
        # Finds divisions of two Integers, whose quotient is an Integer. A JavaScript number has no such type: 7 / 2 is 3.5.
        class IntegerDivisions < Rewriter
          FLOATS = %i[to_f fdiv Float].freeze # methods that return Floats

          def process(node)
            @integers = @file = IntegerInference.new(node) if node && !@file
            super
          end

          %i[on_def on_defs].each do |name|
            define_method(name) { |node| within(node) { super(node) } }
          end

          def on_send(node)
            divided = super
            dividend, name, divisor = *divided
            return divided unless name == :/
            return divided.updated(:ratio, [dividend, divisor]) if float?(dividend) || float?(divisor)
            return divided unless @integers.include?(dividend) && @integers.include?(divisor)

            divided.updated(:quotient, [dividend, divisor])
          end

          private

          def float?(node)
            return false unless node.is_a?(::Parser::AST::Node)
            return float?(node.children.last) if node.type == :begin

            %i[float ratio].include?(node.type) || (node.type == :send && float_call?(*node))
          end

          def float_call?(receiver, name, *arguments)
            FLOATS.include?(name) || (%i[+ - * **].include?(name) && [receiver, *arguments].any? { |side| float?(side) })
          end

          def within(method)
            outer = @integers
            @integers = IntegerInference.new(method, @file)
            yield
          ensure
            @integers = outer
          end
        end
      end
    end
  end
end
