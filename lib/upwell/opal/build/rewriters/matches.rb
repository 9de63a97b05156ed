# frozen_string_literal: true

require_relative "rewriter"

module Upwell
  module Opal
    class Build
      module Rewriters
        # $~, and $1 which is read from it, are a method's own to Ruby, and everybody's to Opal. A method that reads them notes what it has
        # matched in a variable of its own.
        class Matches < Rewriter
          VARIABLE = "$last_match"
          RESULT = "$match_result"
          MATCHING = %i[=~ !~ match sub gsub sub! gsub! scan].freeze
          MATCHING_EXPRESSIONS = %i[[] []= slice slice! index rindex partition rpartition start_with? grep].freeze
          SCOPES = %i[top def defs class module sclass].freeze
          BACK_REFERENCES = { "$&": [:[], 0], "$`": [:pre_match], "$'": [:post_match] }.freeze

          SCOPES.each do |type|
            define_method(:"on_#{type}") { |node| scope(node) { rewritten_children(node) } }
          end

          %i[change_variable change_fresh change_element change_attribute].each do |type|
            define_method(:"on_#{type}") do |node|
              name = node.children.grep(Symbol).last
              noted(rewritten_children(node), matches?(nil, name, node.children[node.children.rindex(name) + 1]))
            end
          end

          def on_send(node)
            return on_last_match(node) if @reads && last_match?(node)

            noted(super, matches?(*node.children))
          end

          alias on_csend on_send

          def on_match_with_lvasgn(node)
            noted(rewritten_children(node), true)
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

          def matches?(receiver, name, argument = nil, *)
            MATCHING.include?(name) || (name == :=== && expression?(receiver)) || (MATCHING_EXPRESSIONS.include?(name) && expression?(argument))
          end

          # One that is written there, or a constant that is no class.
          def expression?(node)
            node?(node) && (node.type == :regexp || (node.type == :const && node.children.last.match?(/\A[A-Z0-9_]+\z/)))
          end

          # The call, and the match beside it.
          def noted(call, matches)
            return call unless @reads && matches

            block = block_of(call)
            return s(:begin, s(:lvasgn, RESULT, call), note, s(:js_tmp, RESULT)) unless block

            before = "$match_before_#{@count = @count.to_i + 1}"
            s(:begin, s(:lvasgn, before, s(:js_tmp, VARIABLE)), s(:lvasgn, RESULT, with_block(call, block)), note_unless_changed(before),
              s(:js_tmp, RESULT))
          end

          # What a block calls may have matched since: the block has noted what it was called for.
          def note_unless_changed(before)
            s(:if, s(:send, s(:js_tmp, before), :equal?, s(:js_tmp, VARIABLE)), note, s(:nil))
          end

          def note
            s(:lvasgn, VARIABLE, s(:gvar, :$~))
          end

          def block_of(call)
            block = call.children.last
            block if node?(block) && block.type == :iter
          end

          # A block that is called amid matching sees the match.
          def with_block(call, block)
            parameters, body = *block
            call.updated(nil, [*call.children[0..-2], block.updated(nil, [parameters, prepend_to_body(body, note)])])
          end
        end
      end
    end
  end
end
