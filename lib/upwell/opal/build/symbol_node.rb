# frozen_string_literal: true

require "json"
require "opal/nodes"

module Upwell
  module Opal
    class Build
      # A symbol's literal. To Opal a symbol is a string; gems ask which of both they are given: see opal/upwell/boot/symbol.js.
      class SymbolNode < ::Opal::Nodes::Base
        def compile
          constant = compiler.symbol_constant(value = @sexp.children.first.to_s)
          compiler.top_scope.add_scope_temp("#{constant} = Opal.symbol(#{JSON.generate(value, script_safe: true)})")
          push constant
        end
      end

      # :"a#{b}"
      class DynamicSymbolNode < ::Opal::Nodes::Base
        def compile
          push "Opal.symbol(", expr(@sexp.updated(:dstr, children)), ")"
        end
      end
    end
  end
end
