# frozen_string_literal: true

require_relative "rewriter"

module Upwell
  module Opal
    class Build
      module Rewriters
        # Compiles $~, and $1 which depends on it. They are local to a method in Ruby, but global in Opal. A method that reads them stores its
        # matches in a local variable. Whether a call matches is known only at run time: see opal/upwell/boot/last_match.js.
        class MatchVariables < Rewriter
          VARIABLE = "$last_match"
          RESULT = "$match_result"
          OPERATORS = %i[=~ !~].freeze
          MATCHING = %i[match sub gsub sub! gsub! scan].freeze
          MATCHING_EXPRESSIONS = %i[[] []= slice slice! index rindex partition rpartition start_with?].freeze # these match only with a Regexp
          NO_EXPRESSIONS = %i[int float str dstr sym dsym nil true false array hash irange erange splat block_pass iter self].freeze
          SCOPES = %i[top def defs class module sclass].freeze
          BACK_REFERENCES = { "$&": [:[], 0], "$`": [:pre_match], "$'": [:post_match] }.freeze

          SCOPES.each do |type|
            define_method(:"on_#{type}") { |node| scope(node) { rewritten_children(node) } }
          end

          %i[change_variable change_given change_shared change_fresh change_fresh_unless_nil change_element change_attribute].each do |type|
            define_method(:"on_#{type}") { |node| noted_change(rewritten_children(node)) }
          end

          def on_send(node)
            return on_last_match(node) if @reads && last_match?(node)

            noted_call(super)
          end

          alias on_csend on_send

          def on_match_with_lvasgn(node)
            call = rewritten_children(node)
            @reads ? noted(call, note(:last_match)) : call
          end

          # The target of a multiple assignment is not a call.
          def on_mlhs(node)
            node.updated(nil, node.children.map { |child| child.type == :send ? rewritten_children(child) : rewritten(child) })
          end

          def on_nth_ref(node)
            @reads ? read(:[], s(:int, node.children.first)) : node
          end

          def on_back_ref(node)
            name, *arguments = BACK_REFERENCES[node.children.first]
            @reads && name ? read(name, *arguments.map { |number| s(:int, number) }) : node
          end

          def on_gvar(node)
            @reads && node.children.first == :$~ ? s(:js_tmp, VARIABLE) : node
          end

          def on_gvasgn(node)
            @reads && node.children.first == :$~ ? s(:lvasgn, VARIABLE, super) : super
          end

          private

          def rewritten_children(node)
            node.updated(nil, node.children.map { |child| rewritten(child) })
          end

          def scope(node)
            outer = @reads
            @reads = node.children.any? { |child| reads?(child) }
            inner = yield
            return inner unless @reads

            inner.updated(nil, [*inner.children[0..-2], prepend_to_body(inner.children.last, s(:lvasgn, VARIABLE, s(:nil)))])
          ensure
            @reads = outer
          end

          def reads?(node)
            return false if !node?(node) || SCOPES.include?(node.type)

            %i[nth_ref back_ref].include?(node.type) || (node.type == :gvar && node.children.first == :$~) || last_match?(node) ||
              node.children.any? { |child| child.is_a?(Array) ? child.any? { |one| reads?(one) } : reads?(child) }
          end

          def node?(node)
            node.is_a?(::Parser::AST::Node)
          end

          def last_match?(node)
            node.type == :send && node.children[1] == :last_match && node?(node.children.first) && node.children.first.children.last == :Regexp
          end

          def on_last_match(node)
            group = node.children[2]
            group ? read(:[], rewritten(group)) : s(:js_tmp, VARIABLE)
          end

          def read(name, *arguments)
            s(:csend, s(:js_tmp, VARIABLE), name, *arguments)
          end

          def noted_call(call)
            receiver, name, argument, *others = *call
            return call unless @reads
            return noted(call, note(:matched_in_pattern, s(:js_tmp, VARIABLE))) if pattern_matching?(receiver, name)
            return call unless matches?(receiver, name, argument, others)

            held, receiver = hold("receiver", receiver)
            pattern, argument = hold("pattern", argument) if argument && !MATCHING.include?(name)
            held = pattern if name == :grep
            noted(call.updated(nil, [receiver, name, *[argument, *others].compact]), note_if_matched(held, pattern))
          end

          # A changed object counts as a string, unless its syntax shows another type.
          def noted_change(change)
            at = change.children.rindex { |child| child.is_a?(Symbol) }
            name, argument, *others = change.children[at..]
            return change unless @reads && matches?(nil, name, argument, others)

            pattern, argument = hold("pattern", argument) unless MATCHING.include?(name)
            changed = change.type == :change_variable ? change.children[1] : s(:js_tmp, '""')
            noted(change.updated(nil, [*change.children[0..at], *[argument, *others].compact]), note_if_matched(changed, pattern))
          end

          def pattern_matching?(receiver, name)
            name == :call && node?(receiver) && receiver.type == :const && receiver.children.last == :PatternMatching
          end

          # Checks whether a method of this name may match.
          def matches?(receiver, name, argument, others)
            case name
            when :=== then expression?(receiver)
            when :grep then expression?(argument) && others.last&.type == :iter # grep with a block sets $~ for the block
            when :[]= then expression?(argument) && others.size == 1
            else OPERATORS.include?(name) || MATCHING.include?(name) || (MATCHING_EXPRESSIONS.include?(name) && expression?(argument))
            end
          end

          # Checks whether a node may be a Regexp. Constants in mixed case are classes, and are excluded.
          def expression?(node)
            return false if !node?(node) || NO_EXPRESSIONS.include?(node.type)

            node.type != :const || node.children.last.match?(/\A[A-Z0-9_]+\z/)
          end

          # @return [Array(Node, Node)] the variable that holds the value, and the assignment that replaces the node
          def hold(role, node)
            return [s(:self), node] if node.nil? || node.type == :self

            variable = variable(role)
            [s(:js_tmp, variable), s(:lvasgn, variable, node)]
          end

          def variable(role)
            "$match_#{role}_#{@count = @count.to_i + 1}"
          end

          # Combines the call and the code that stores its match.
          def noted(call, note)
            block = block_of(call)
            return s(:begin, s(:lvasgn, RESULT, call), note, s(:js_tmp, RESULT)) unless block

            before = variable("before")
            s(:begin, s(:lvasgn, before, s(:js_tmp, VARIABLE)), s(:lvasgn, RESULT, with_block(call, block, note)),
              unless_changed(before, note), s(:js_tmp, RESULT))
          end

          # Calls in a block may have matched since then. In that case the block has stored its own match.
          def unless_changed(before, note)
            s(:if, s(:send, s(:js_tmp, before), :equal?, s(:js_tmp, VARIABLE)), note, s(:nil))
          end

          def note_if_matched(receiver, pattern)
            note(:matched, receiver, pattern || s(:js_tmp, "null"), s(:js_tmp, VARIABLE))
          end

          def note(function, *arguments)
            s(:lvasgn, VARIABLE, s(:jscall, s(:js_tmp, :Opal), function, *arguments))
          end

          def block_of(call)
            block = call.children.last
            block if node?(block) && block.type == :iter
          end

          # A block that runs during the call sees its match.
          def with_block(call, block, note)
            parameters, body = *block
            call.updated(nil, [*call.children[0..-2], block.updated(nil, [parameters, prepend_to_body(body, note)])])
          end
        end
      end
    end
  end
end
