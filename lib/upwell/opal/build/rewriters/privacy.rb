# frozen_string_literal: true

require "opal/rewriters/base"

module Upwell
  module Opal
    class Build
      module Rewriters
        # `private` without names means the methods that follow; what runs is told their names, for who asks which methods are private.
        class Privacy < ::Opal::Rewriters::Base
          WORDS = %i[private public protected].freeze

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
            methods = following.take_while { |one| !bare?(one) }.select { |one| type(one) == :def }
            statement.updated(nil, [*statement.children, *methods.map { |method| s(:sym, method.children.first) }])
          end
        end
      end
    end
  end
end
