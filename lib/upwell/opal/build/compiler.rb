# frozen_string_literal: true

require "opal/compiler"
require_relative "call_node"
require_relative "string_mutation_nodes"
require_relative "hash_node"
require_relative "helper_call_node"
require_relative "if_node"
require_relative "interpolation_node"
require_relative "quotient_node"
require_relative "regexp_node"
require_relative "string_node"
require_relative "symbol_node"
require_relative "top_node"
require_relative "rewriters/string_mutations"
require_relative "rewriters/integer_divisions"
require_relative "rewriters/next_in_loops"
require_relative "rewriters/match_variables"
require_relative "rewriters/outer_variables"
require_relative "rewriters/private_methods"
require_relative "rewriters/reserved_instance_variables"

module Upwell
  module Opal
    class Build
      # Opal's compiler, extended for the files of the application and its gems.
      class Compiler < ::Opal::Compiler
        REWRITERS = [Rewriters::StringMutations, Rewriters::NextInLoops, Rewriters::PrivateMethods, Rewriters::ReservedInstanceVariables,
                     Rewriters::IntegerDivisions, Rewriters::MatchVariables].freeze
        NODES = { send: CallNode, csend: CallNode, hash: HashNode, str: StringNode, dstr: InterpolationNode, regexp: RegexpNode,
                  append: AppendNode, change_variable: ChangeVariableNode, change_fresh: ChangeFreshNode, change_element: ChangeElementNode,
                  change_attribute: ChangeAttributeNode, change_given: ChangeGivenNode, change_shared: ChangeSharedNode,
                  change_each: ChangeEachNode, change_fresh_unless_nil: ChangeFreshUnlessNilNode, quotient: QuotientNode, ratio: RatioNode,
                  jscall: HelperCallNode, top: TopNode }.freeze

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
          @sexp = Rewriters::OuterVariables.new(scope_variables).process(@sexp) unless scope_variables.empty?
          @sexp = REWRITERS.inject(@sexp) { |sexp, rewriter| rewriter.new.process(sexp) }
        end

        def handlers
          @handlers ||= super.merge(NODES, @symbols ? SYMBOLS : {})
        end

        # @return [Boolean] whether text in backticks is JavaScript: in files with the magic comment, and in this project's own
        def backtick_javascript_or_warn?
          !@symbols || backtick_javascript? == true
        end

        # Declares a variable for a symbol.
        #
        # @param value [String] a symbol's name
        # @return [String] the variable that holds the symbol
        def symbol_constant(value)
          @symbol_constants[value] ||= unique_temp("symbol")
        end

        # @param feature [String] as it is required
        # @return [String] see {RequireResolver#canonical}
        def canonical(feature)
          @canonical.call(feature)
        end
      end
    end
  end
end
