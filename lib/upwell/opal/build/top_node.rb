# frozen_string_literal: true

require "opal/nodes"

module Upwell
  module Opal
    class Build
      # Compiles a file, or evaluated text. Evaluated text does not declare the variables around it.
      class TopNode < ::Opal::Nodes::TopNode
        def compile
          compiler.scope_variables.each { |name| add_arg(name) }
          super
        end

        # Opal checks the class of its own nodes.
        def accepts_using?
          true
        end
      end
    end
  end
end
