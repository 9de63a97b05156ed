# frozen_string_literal: true

require "opal/nodes"

module Upwell
  module Opal
    class Build
      # Compiles "a#{b}". If the result contains bytes, it is binary.
      class InterpolationNode < ::Opal::Nodes::Base
        def compile
          return push(expr(s(:str, children.map { |part| part.children.first }.join))) if children.all? { |part| part.type == :str }

          push "Opal.interpolate("
          children.each_with_index { |part, index| push(*[(", " unless index.zero?), expr(part)].compact) }
          push ")"
        end
      end
    end
  end
end
