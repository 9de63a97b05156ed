# frozen_string_literal: true

require_relative "rewriter"

module Upwell
  module Opal
    class Build
      module Rewriters
        # Strings cannot be changed in JavaScript. Where one is changed in place, as by `text << more`, what holds it is given a new string
        # instead: a variable, an element, an attribute. Whatever else held the old one holds it still.
        class Changes < Rewriter
          NAMES = %i[<< append_as_bytes capitalize! chomp! chop! clear concat delete! delete_prefix! delete_suffix! downcase! encode! gsub!
                     insert lstrip! next! prepend replace reverse! rstrip! scrub! slice! squeeze! strip! sub! succ! swapcase! tr! tr_s!
                     unicode_normalize! upcase!].freeze
          ASSIGNMENTS = { lvar: :lvasgn, ivar: :ivasgn, gvar: :gvasgn, cvar: :cvasgn }.freeze
          VARIABLES = ASSIGNMENTS.invert.freeze
          INDICES = %i[int irange erange regexp].freeze
          ATTRIBUTE = /\A[a-z_]\w*\z/

          # @param variable [Opal::AST::Node]
          # @param value [Opal::AST::Node]
          # @return [Opal::AST::Node] that gives the variable the value
          def self.assignment(variable, value)
            variable.updated(ASSIGNMENTS.fetch(variable.type), [*variable, value])
          end

          def on_send(node)
            receiver, name, *arguments = *super
            return encode(node, receiver, name, arguments) if name == :force_encoding
            return node.updated(nil, [receiver, name, *arguments]) unless receiver && changes?(name, receiver, arguments)

            change(node, receiver, name, arguments)
          end

          # What several values are assigned to is no call.
          def on_mlhs(node)
            node.updated(nil, node.children.map { |child| child.type == :send ? handler_missing(child) : rewritten(child) })
          end

          private

          # An element is assigned mostly to a Hash, seldom to an Array; by such an index alone to a String.
          def changes?(name, receiver, arguments)
            NAMES.include?(name) || (name == :[]= && variable_of(receiver) && INDICES.include?(arguments.first.type))
          end

          def encode(node, receiver, name, arguments)
            variable = receiver && variable_of(receiver)
            encoded = node.updated(:send, [receiver, name, *arguments])
            variable ? self.class.assignment(variable, encoded) : encoded
          end

          def change(node, receiver, name, arguments)
            variable = variable_of(receiver)
            return node.updated(:append, [variable, *arguments]) if variable == receiver && name == :<< && small?(*arguments)
            return node.updated(:change_variable, [receiver, variable, name, *arguments]) if variable

            changed = change_held(node, holder_of(receiver), receiver, name, arguments)
            receiver.type == :send || changed.type == :change_fresh ? changed : s(:begin, receiver, changed) # `list[0] ||= text` first
          end

          def change_held(node, reading, receiver, name, arguments)
            holder, reader, *keys = *reading
            case reader
            when nil then node.updated(:change_fresh, [receiver, name, *arguments])
            when :[] then node.updated(:change_element, [holder, keys, name, *arguments])
            else node.updated(:change_attribute, [holder || s(:self), reader, name, *arguments])
            end
          end

          # What may stand in two places.
          def small?(argument = nil, *others)
            others.empty? && %i[str lvar ivar int sym self].include?(argument&.type)
          end

          # The variable that holds what an expression yields, if one does: text, (text = other), (text ||= other), text << more.
          def variable_of(node)
            case node.type
            when *VARIABLES.values then node
            when *VARIABLES.keys then node.updated(VARIABLES.fetch(node.type), node.children[0..-2])
            when :begin then node.children.size == 1 ? variable_of(node.children.first) : nil
            when :or then variable_of(node.children.last)
            when :change_variable then node.children[1]
            when :append then node.children.first
            end
          end

          # The call that reads what is changed: [holder, :[], key] or [holder, :name].
          def holder_of(node)
            return holder_of(assigned(node)) if %i[begin if].include?(node.type) && node.children.size != 2
            return nil unless node.type == :send

            _, reader, *keys = *node
            node if reader == :[] || (keys.empty? && ATTRIBUTE.match?(reader))
          end

          # What is read first in (list[0] ||= text), which Opal has made an if of.
          def assigned(node)
            inner = node.children.first
            inner = inner.children.first while inner.type == :begin
            inner.type == :lvasgn ? inner.children.last : inner
          end
        end
      end
    end
  end
end
