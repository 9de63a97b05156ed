# frozen_string_literal: true

require "json"
require "opal/nodes"

module Upwell
  module Opal
    class Build
      # Compiles a symbol literal. Opal's symbols are strings, but gems distinguish them: see opal/upwell/boot/symbol.js.
      class SymbolNode < ::Opal::Nodes::Base
        def compile
          constant = compiler.symbol_constant(value = @sexp.children.first.to_s)
          compiler.top_scope.add_scope_temp("#{constant} = Opal.symbol(#{JSON.generate(value, script_safe: true)})")
          push constant
        end
      end

      # Compiles :"a#{b}".
      class DynamicSymbolNode < ::Opal::Nodes::Base
        def compile
          push "Opal.symbol(", expr(@sexp.updated(:dstr, children)), ")"
        end
      end
    end
  end
end
