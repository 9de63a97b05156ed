# frozen_string_literal: true

require "opal/rewriters/base"

module Upwell
  module Opal
    class Build
      module Rewriters
        # Traverses nodes of all types, including nodes of other rewriters.
        class Rewriter < ::Opal::Rewriters::Base
          # @param node [Opal::AST::Node] of a type without a method in Opal's rewriters
          # @return [Opal::AST::Node]
          def handler_missing(node)
            node.updated(nil, node.children.map { |child| rewritten(child) })
          end

          private

          def rewritten(child)
            return child.map { |one| rewritten(one) } if child.is_a?(Array)

            child.is_a?(::Parser::AST::Node) ? process(child) : child
          end
        end
      end
    end
  end
end
