# frozen_string_literal: true

require "opal/rewriters/base"

module Upwell
  module Opal
    class Build
      module Rewriters
        # A variable of a class is a property of JavaScript's function: what means something there gets another name.
        class ReservedVariables < ::Opal::Rewriters::Base
          NAMES = { "@prototype": :"@prototype$", "@arguments": :"@arguments$", "@caller": :"@caller$" }.freeze

          def on_ivar(node)
            renamed(super)
          end

          def on_ivasgn(node)
            renamed(super)
          end

          private

          def renamed(node)
            name, *value = *node
            NAMES.key?(name) ? node.updated(nil, [NAMES.fetch(name), *value]) : node
          end
        end
      end
    end
  end
end
