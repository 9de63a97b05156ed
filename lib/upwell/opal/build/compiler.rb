# frozen_string_literal: true

require "opal/compiler"
require_relative "regexp_node"
require_relative "rewriters/appending"

module Upwell
  module Opal
    class Build
      # Opal's compiler, and what the application's and its gems' files need beyond it.
      class Compiler < ::Opal::Compiler
        REWRITERS = [Rewriters::Appending].freeze

        def parse
          super
          @sexp = REWRITERS.inject(@sexp) { |sexp, rewriter| rewriter.new.process(sexp) }
        end

        def handlers
          @handlers ||= super.merge(regexp: RegexpNode)
        end
      end
    end
  end
end
