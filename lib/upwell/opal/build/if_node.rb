# frozen_string_literal: true

require "opal/nodes"

module Upwell
  module Opal
    class Build
      # Compiles a `case` with literal values to JavaScript's switch, which compares strings.
      class IfNode < ::Opal::Nodes::IfNode
        private

        def compile_with_switch
          return super unless @switch_first_test

          # The parentheses are necessary: a dot after an integer is JavaScript's decimal point.
          line "switch ((", expr(@switch_first_test), ").valueOf()) {"
          indent { compile_switch_case(@switch_test) }
          line "}"
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
