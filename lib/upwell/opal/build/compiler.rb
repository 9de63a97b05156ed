# frozen_string_literal: true

require "opal/compiler"
require_relative "call_node"
require_relative "change_nodes"
require_relative "hash_node"
require_relative "if_node"
require_relative "interpolation_node"
require_relative "quotient_node"
require_relative "regexp_node"
require_relative "string_node"
require_relative "symbol_node"
require_relative "rewriters/changes"
require_relative "rewriters/divisions"
require_relative "rewriters/loops"
require_relative "rewriters/matches"
require_relative "rewriters/privacy"
require_relative "rewriters/reserved_variables"

module Upwell
  module Opal
    class Build
      # Opal's compiler, and what the application's and its gems' files need beyond it.
      class Compiler < ::Opal::Compiler
        REWRITERS = [Rewriters::Changes, Rewriters::Loops, Rewriters::Privacy, Rewriters::ReservedVariables, Rewriters::Divisions,
                     Rewriters::Matches].freeze
        NODES = { send: CallNode, csend: CallNode, hash: HashNode, str: StringNode, dstr: InterpolationNode, regexp: RegexpNode,
                  append: AppendNode, change_variable: ChangeVariableNode, change_fresh: ChangeFreshNode, change_element: ChangeElementNode,
                  change_attribute: ChangeAttributeNode, quotient: QuotientNode }.freeze

        SYMBOLS = { if: IfNode, sym: SymbolNode, dsym: DynamicSymbolNode }.freeze

        # @return [Array<String>] see {Unit}
        attr_reader :prefixes, :words

        def initialize(source, options = {})
          super
          @canonical = options.fetch(:canonical, :itself.to_proc)
          @symbols = options.fetch(:symbols, true)
          @symbol_constants = {}
          @prefixes = []
          @words = []
        end

        def parse
          super
          @sexp = REWRITERS.inject(@sexp) { |sexp, rewriter| rewriter.new.process(sexp) }
        end

        def handlers
          @handlers ||= super.merge(NODES, @symbols ? SYMBOLS : {})
        end

        # @param value [String] a symbol's name
        # @return [String] the variable that holds it
        def symbol_constant(value)
          @symbol_constants[value] ||= unique_temp("symbol")
        end

        # @param feature [String] as it is required
        # @return [String] see {Sources#canonical}
        def canonical(feature)
          @canonical.call(feature)
        end
      end
    end
  end
end
