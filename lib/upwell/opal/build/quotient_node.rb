# frozen_string_literal: true

require "opal/nodes"

module Upwell
  module Opal
    class Build
      # What {Rewriters::Divisions} found: an Integer divided by an Integer.
      class QuotientNode < ::Opal::Nodes::Base
        def compile
          push "Opal.quotient(", expr(children[0]), ", ", expr(children[1]), ")"
        end
      end
    end
  end
end
