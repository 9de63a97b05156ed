# frozen_string_literal: true

require_relative "rewriter"

module Upwell
  module Opal
    class Build
      module Rewriters
        # `private` without names means the methods that follow; what runs is told their names, for who asks which methods are private.
        class Privacy < Rewriter
          WORDS = %i[private public protected].freeze
          # What else makes methods, by the names it is given.
          ATTRIBUTES = {
            attr_reader: :itself.to_proc,
            attr_writer: ->(names) { names.map { |name| :"#{name}=" } },
            attr_accessor: ->(names) { names.flat_map { |name| [name, :"#{name}="] } },
            define_method: ->(names) { names.first(1) },
            alias_method: ->(names) { names.first(1) }
          }.freeze

          def on_class(node)
            named(super)
          end

          alias on_module on_class
          alias on_sclass on_class

          private

          def named(node)
            body = node.children.last
            return node unless type(body) == :begin

            statements = body.children.each_with_index.map do |statement, index|
              bare?(statement) ? name(statement, body.children.drop(index + 1)) : statement
            end
            node.updated(nil, [*node.children[0..-2], body.updated(nil, statements)])
          end

          def bare?(statement)
            type(statement) == :send && WORDS.include?(statement.children[1]) && statement.children.size == 2
          end

          def type(node)
            node.type if node.is_a?(::Parser::AST::Node)
          end

          def name(statement, following)
            names = following.take_while { |one| !bare?(one) }.flat_map { |one| names_of(one) }
            statement.updated(nil, [*statement.children, *names.map { |method| s(:sym, method) }])
          end

          def names_of(node)
            return [node.children.first] if type(node) == :def
            return [] unless type(node) == :send && node.children.first.nil?

            _, call, *arguments = *node
            named = arguments.select { |argument| %i[sym str].include?(type(argument)) }.map { |argument| argument.children.first.to_sym }
            ATTRIBUTES.fetch(call, ->(*) { [] }).call(named)
          end
        end
      end
    end
  end
end
