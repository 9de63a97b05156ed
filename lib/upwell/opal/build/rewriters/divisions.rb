# frozen_string_literal: true

require_relative "../integers"
require_relative "rewriter"

module Upwell
  module Opal
    class Build
      module Rewriters
        # A number of JavaScript's does not tell whether it is an Integer: 7 / 2 is 3.5. Where both sides are seen to be Integers the
        # quotient is one, too.
        class Divisions < Rewriter
          def process(node)
            @integers = @file = Integers.new(node) if node && !@file
            super
          end

          %i[on_def on_defs].each do |name|
            define_method(name) { |node| within(node) { super(node) } }
          end

          def on_send(node)
            divided = super
            dividend, name, divisor = *divided
            return divided unless name == :/ && @integers.include?(dividend) && @integers.include?(divisor)

            divided.updated(:quotient, [dividend, divisor])
          end

          private

          def within(method)
            outer = @integers
            @integers = Integers.new(method, @file)
            yield
          ensure
            @integers = outer
          end
        end
      end
    end
  end
end
