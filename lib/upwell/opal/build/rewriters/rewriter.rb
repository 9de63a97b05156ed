# frozen_string_literal: true

require "opal/rewriters/base"

module Upwell
  module Opal
    class Build
      module Rewriters
        # Goes through nodes of all types, those that other rewriters have made, too.
        class Rewriter < ::Opal::Rewriters::Base
          # @param node [Opal::AST::Node] of a type that Opal's own has no method for
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
