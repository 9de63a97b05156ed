# frozen_string_literal: true

require "opal/nodes"

module Upwell
  module Opal
    class Build
      # Compiles a division of two Integers, found by {Rewriters::IntegerDivisions}.
      class QuotientNode < ::Opal::Nodes::Base
        def compile
          push "Opal.quotient(", expr(children[0]), ", ", expr(children[1]), ")"
        end
      end

      # Compiles a division with a Float on one side: division by zero gives Infinity or NaN.
      class RatioNode < ::Opal::Nodes::Base
        def compile
          push "Opal.ratio(", expr(children[0]), ", ", expr(children[1]), ")"
        end
      end
    end
  end
end
