# frozen_string_literal: true

require "opal/nodes"

module Upwell
  module Opal
    class Build
      # Compiles a call of a JavaScript function, such as {Rewriters::MatchVariables} inserts. Refinements do not affect the call.
      class HelperCallNode < ::Opal::Nodes::JsCallNode
        private

        def invoke_using_refinement?
          false
        end
      end
    end
  end
end
