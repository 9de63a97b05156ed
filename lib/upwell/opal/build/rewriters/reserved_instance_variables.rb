# frozen_string_literal: true

require_relative "rewriter"

module Upwell
  module Opal
    class Build
      module Rewriters
        # Renames instance variables. They are properties of a JavaScript object or function, and some names have a meaning there. The new name
        # is the one that opal/upwell/boot/instance_variables.js gives at run time.
        class ReservedInstanceVariables < Rewriter
          NAMES = %w[prototype arguments caller apply bind call toString stack].to_h { |name| [:"@#{name}", :"@#{name}$"] }.freeze

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
