# frozen_string_literal: true

module Upwell
  module Opal
    class Build
      # Recognizes Integers by their syntax: literals, computations on Integers, methods that return Integers, and variables and constants that
      # are assigned only Integers.
      class IntegerInference
        METHODS = %i[length size bytesize count to_i to_int ord getbyte div pred succ bit_length Integer year month day hour yday wday].freeze
        OPERATORS = %i[+ - * / % & | ^ << >>].freeze
        SIGNS = %i[-@ +@ ~ abs].freeze
        ROUNDED = %i[floor ceil round truncate].freeze
        SCOPES = %i[def defs class module sclass].freeze
        PARAMETER = /(?<!initialize_iter_)arg|match_var/ # an initialize_iter_arg assigns its own value
        BLOCKS = { times: 0, upto: 0, downto: 0, each_index: 0, each_with_index: 1 }.freeze # the index of the Integer parameter

        # @param scope [Opal::AST::Node] a method, or a file
        # @param outer [Integers, nil] the file's
        def initialize(scope, outer = nil)
          @scope = scope
          @variables = {}
          @counted = {}.compare_by_identity
          @constants = outer ? outer.constants : settle(gather_constants(scope, values)) { |names| @constants = names }
          settle(gather(scope, values)) { |names| @variables = names }
        end

        # @param node [Opal::AST::Node]
        # @return [Boolean]
        def include?(node)
          return false unless node?(node)

          case node.type
          when :int, :quotient then true
          when :lvar then @variables.key?(node.children.first)
          when :const then node.children.first.nil? && @constants.key?(node.children.last)
          when :begin, :lvasgn then include?(node.children.last)
          when :if then include?(node.children[1]) && include?(node.children[2])
          when :send then call?(*node)
          else false
          end
        end

        protected

        attr_reader :constants

        private

        def node?(node)
          node.is_a?(::Parser::AST::Node)
        end

        def call?(receiver, name, *arguments)
          return include?(receiver) && include?(arguments.first) if OPERATORS.include?(name)
          return include?(receiver) if SIGNS.include?(name)

          METHODS.include?(name) || (ROUNDED.include?(name) && arguments.empty?)
        end

        # Maps each name to its assigned values.
        def values
          Hash.new { |all, name| all[name] = [] }
        end

        # Finds names that are assigned only Integers. It starts with all names, and removes names with another value until none is left.
        def settle(given)
          names = given.transform_values { true }
          yield names
          while (name = names.keys.find { |one| !given[one].all? { |value| value == :counted || include?(value) } })
            names.delete(name)
          end
          names
        end

        def gather_constants(node, given)
          return given unless node?(node)

          given[node.children[1]] << node.children[2] if node.type == :casgn
          node.children.each { |child| gather_constants(child, given) }
          given
        end

        def gather(node, given)
          return given if !node?(node) || (SCOPES.include?(node.type) && !node.equal?(@scope))

          note(node, given)
          node.children.each { |child| gather(child, given) }
          given
        end

        def note(node, given)
          case node.type
          when :lvasgn then given[node.children.first] << node.children[1]
          when :send then @counted[counted(node)] = true
          when PARAMETER then node.children.grep(Symbol).each { |name| given[name] << (@counted.key?(node) ? :counted : nil) }
          end
        end

        # Finds the parameter of a counting block: 3.times { |index| … }.
        def counted(node)
          block = node.children.last
          return unless node?(block) && block.type == :iter && BLOCKS.key?(node.children[1]) && node?(block.children.first)

          block.children.first.children[BLOCKS[node.children[1]]]
        end
      end
    end
  end
end
