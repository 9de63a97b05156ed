# frozen_string_literal: true

require "opal/rewriters/base"

module Upwell
  module Opal
    class Build
      module Rewriters
        # Strings cannot be changed in JavaScript. `text << more`, where text is a variable, gives the variable a new string instead; other
        # variables that held the old one hold it still.
        class Appending < ::Opal::Rewriters::Base
          ASSIGNMENTS = { lvar: :lvasgn, ivar: :ivasgn, gvar: :gvasgn, cvar: :cvasgn }.freeze

          def on_send(node)
            receiver, name, *arguments = *node
            assignment = receiver && ASSIGNMENTS[receiver.type]
            return super unless assignment && name == :<< && arguments.size == 1

            receiver.updated(assignment, [*receiver, appended(receiver, process(arguments.first))])
          end

          private

          def appended(receiver, argument)
            s(:jscall, s(:js_tmp, :Opal), :append, receiver, argument)
          end
        end
      end
    end
  end
end
