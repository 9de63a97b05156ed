# frozen_string_literal: true

require_relative "../string_alias_analysis"
require_relative "rewriter"

module Upwell
  module Opal
    class Build
      module Rewriters
        # JavaScript strings are immutable. When code changes a string in place (`text << more`), the holder gets a new string instead: a
        # variable, an element or an attribute. Other holders keep the old string.
        class StringMutations < Rewriter
          NAMES = %i[<< append_as_bytes capitalize! chomp! chop! clear concat delete! delete_prefix! delete_suffix! downcase! encode! gsub!
                     insert lstrip! next! prepend replace reverse! rstrip! scrub! slice! squeeze! strip! sub! succ! swapcase! tr! tr_s!
                     unicode_normalize! upcase!].freeze
          ASSIGNMENTS = { lvar: :lvasgn, ivar: :ivasgn, gvar: :gvasgn, cvar: :cvasgn }.freeze
          VARIABLES = ASSIGNMENTS.invert.freeze
          RANGES = %i[irange erange].freeze
          INDICES = [:int, :regexp, *RANGES].freeze
          # Methods whose result may have another holder.
          READERS = %i[at detect dig find first instance_variable_get last max max_by min min_by public_send sample send].freeze
          # Methods that ignore the block's result.
          VALUELESS = %i[each each_key each_pair each_value each_with_index each_with_object each_entry each_slice reverse_each tap].freeze
          ATTRIBUTE = /\A[a-z_]\w*\z/

          PARAMETERS = %i[arg optarg restarg kwarg kwoptarg].freeze

          # @param variable [Opal::AST::Node]
          # @param value [Opal::AST::Node]
          # @return [Opal::AST::Node] an assignment of the value to the variable
          def self.assignment(variable, value)
            variable.updated(ASSIGNMENTS.fetch(variable.type), [*variable, value])
          end

          def process(node)
            @ranges ||= ranges(node)
            @shared ||= StringAliasAnalysis.changes(node, NAMES)
            super
          end

          def on_send(node)
            @valueless = node.children.last if VALUELESS.include?(node.children[1])
            receiver, name, *arguments = *super
            return change_each(node, receiver, *arguments) if receiver && name == :each && change_of_each?(*arguments)
            return encode(node, receiver, name, arguments) if name == :force_encoding
            return node.updated(nil, [receiver, name, *arguments]) unless receiver && changes?(name, receiver, arguments)
            return node.updated(:change_shared, [receiver, name, *arguments]) if @shared.key?(node)

            change(node, receiver, name, arguments)
          end

          # text&.strip! gives nil for nil
          def on_csend(node)
            receiver, name, *arguments = *handler_missing(node)
            return node.updated(nil, [receiver, name, *arguments]) unless NAMES.include?(name)
            return unless_nil(receiver) { |present| on_csend(node.updated(nil, [present, name, *arguments])) } if receiver.type == :csend
            return node.updated(:change_fresh_unless_nil, [receiver, name, *arguments]) unless variable_of(receiver) || holder_of(receiver)

            s(:if, s(:send, receiver, :nil?), s(:nil), change(node.updated(:send), receiver, name, arguments))
          end

          %i[def defs iter].each do |type|
            define_method(:"on_#{type}") { |node| in_scope(node) { handler_missing(node) } }
          end

          # The target of a multiple assignment is not a call.
          def on_mlhs(node)
            node.updated(nil, node.children.map { |child| child.type == :send ? handler_missing(child) : rewritten(child) })
          end

          private

          # Rewrites thing&.name to a check for nil and a plain call.
          def unless_nil(call)
            s(:if, s(:send, call.children.first, :nil?), s(:nil), yield(call.updated(:send)))
          end

          # A change of a parameter's string that the method does not read is meant for the caller, who would not see the new string.
          def in_scope(node)
            outer = @given
            args, body = *node.children.last(2)
            given = parameters(args).select { |name| for_caller?(name, node, body) }
            @given = node.type == :iter ? (outer || []) - parameters(args) + given : given
            yield
          ensure
            @given = outer
          end

          def for_caller?(name, scope, body)
            return false unless body && reads(name, body) == changes_of(name, body)

            if scope.type == :iter
              @valueless&.equal?(scope)
            else
              reads(name, body.type == :begin ? body.children.last : body).zero?
            end
          end

          def reads(name, node)
            count(node) { |one| one.type == :lvar && one.children.first == name }
          end

          def changes_of(name, node)
            count(node) do |one|
              receiver, method = *one
              one.type == :send && NAMES.include?(method) && receiver&.type == :lvar && receiver.children.first == name
            end
          end

          def count(node, &block)
            return 0 unless node.is_a?(::Parser::AST::Node)

            (yield(node) ? 1 : 0) + node.children.sum { |child| count(child, &block) }
          end

          def parameters(node)
            return [] unless node.is_a?(::Parser::AST::Node)
            return [node.children.first] if PARAMETERS.include?(node.type)

            node.children.flat_map { |child| parameters(child) }
          end

          def given?(variable)
            variable.type == :lvar && @given&.include?(variable.children.first)
          end

          # list.each(&:upcase!)
          def change_of_each?(block = nil, *others)
            symbol = block.children.first if others.empty? && block&.type == :block_pass
            symbol&.type == :sym && NAMES.include?(symbol.children.first)
          end

          def change_each(node, list, block)
            node.updated(:change_each, [list, block.children.first.children.first])
          end

          # Indexed assignment is usually for a Hash, sometimes for an Array. Only such an index is possible for a String.
          def changes?(name, receiver, arguments)
            NAMES.include?(name) || (name == :[]= && variable_of(receiver) && index?(arguments.first))
          end

          def index?(node)
            INDICES.include?(node.type) || (node.type == :lvar && @ranges.include?(node.children.first))
          end

          # Finds the variables that are assigned ranges.
          def ranges(node)
            return [] unless node.is_a?(::Parser::AST::Node)

            given = node.type == :lvasgn && node.children.last
            range = given.is_a?(::Parser::AST::Node) && RANGES.include?(given.type)
            node.children.flat_map { |child| ranges(child) }.tap { |names| names << node.children.first if range }
          end

          def encode(node, receiver, name, arguments)
            variable = receiver && variable_of(receiver)
            encoded = node.updated(:send, [receiver, name, *arguments])
            variable ? self.class.assignment(variable, encoded) : encoded
          end

          def change(node, receiver, name, arguments)
            receiver = receiver.updated(:send) if receiver.type == :csend
            variable = variable_of(receiver)
            return node.updated(:change_given, [receiver, name, *arguments]) if variable && given?(variable)
            return node.updated(:append, [variable, *arguments]) if variable == receiver && name == :<< && small?(*arguments)
            return node.updated(:change_variable, [receiver, variable, name, *arguments]) if variable

            changed = change_held(node, holder_of(receiver), receiver, name, arguments)
            receiver.type == :send || changed.type == :change_fresh ? changed : s(:begin, receiver, changed) # the element is assigned first
          end

          def change_held(node, reading, receiver, name, arguments)
            holder, reader, *keys = *reading
            case reader
            when nil then node.updated(read?(receiver) ? :change_given : :change_fresh, [receiver, name, *arguments])
            when :[] then node.updated(:change_element, [holder, keys, name, *arguments])
            else node.updated(:change_attribute, [holder || s(:self), reader, name, *arguments])
            end
          end

          def read?(node)
            node.type == :send && READERS.include?(node.children[1])
          end

          # Checks whether an expression may occur twice in the code.
          def small?(argument = nil, *others)
            others.empty? && %i[str lvar ivar int sym self].include?(argument&.type)
          end

          # Finds the variable that holds the result of an expression: text, (text = other), (text ||= other), text << more.
          def variable_of(node)
            case node.type
            when *VARIABLES.values then node
            when *VARIABLES.keys then node.updated(VARIABLES.fetch(node.type), node.children[0..-2])
            when :begin then node.children.size == 1 ? variable_of(node.children.first) : nil
            when :or then variable_of(node.children.last)
            when :change_given, :change_shared, :append then variable_of(node.children.first)
            when :change_variable then node.children[1]
            end
          end

          # Finds the call that reads the string: [holder, :[], key] or [holder, :name].
          def holder_of(node)
            return holder_of(first_assigned(node)) if %i[begin if].include?(node.type) && node.children.size != 2
            return nil unless node.type == :send

            _, reader, *keys = *node
            return node.updated(nil, [node.children.first, :[], *keys]) if reader == :fetch && keys.size == 1

            node if reader == :[] || (keys.empty? && ATTRIBUTE.match?(reader))
          end

          # Finds the first read of (list[0] ||= text), which Opal has rewritten to an if.
          def first_assigned(node)
            inner = node.children.first
            inner = inner.children.first while inner.type == :begin
            inner.type == :lvasgn ? inner.children.last : inner
          end
        end
      end
    end
  end
end
