# frozen_string_literal: true

require "opal/compiler"
require_relative "change_nodes"
require_relative "interpolation_node"
require_relative "regexp_node"
require_relative "string_node"
require_relative "rewriters/changes"

module Upwell
  module Opal
    class Build
      # Opal's compiler, and what the application's and its gems' files need beyond it.
      class Compiler < ::Opal::Compiler
        REWRITERS = [Rewriters::Changes].freeze
        NODES = { str: StringNode, dstr: InterpolationNode, regexp: RegexpNode, change_variable: ChangeVariableNode,
                  change_fresh: ChangeFreshNode, change_element: ChangeElementNode, change_attribute: ChangeAttributeNode }.freeze

        def parse
          super
          @sexp = REWRITERS.inject(@sexp) { |sexp, rewriter| rewriter.new.process(sexp) }
        end

        def handlers
          @handlers ||= super.merge(NODES)
        end
      end
    end
  end
end
