# frozen_string_literal: true

require "opal/nodes"

module Upwell
  module Opal
    class Build
      # A `case` whose values are literals is compiled to JavaScript's switch, which compares strings.
      class IfNode < ::Opal::Nodes::IfNode
        private

        def compile_with_switch
          @switch_first_test = number(@switch_first_test) if @switch_first_test
          super
        end

        # In JavaScript a dot behind an integer is the decimal point.
        def number(test)
          %i[int float].include?(test.type) ? s(:js_tmp, "(#{test.children.first})") : test
        end

        def compile_switch_case(test)
          @switch_additional_rules = @switch_additional_rules&.map { |rule| string(rule) }
          super(string(test))
        end

        def string(test)
          test.type == :sym ? test.updated(:str, [test.children.first.to_s.encode(Encoding::UTF_8)]) : test
        end
      end
    end
  end
end
