# frozen_string_literal: true

require "opal/nodes"

module Upwell
  module Opal
    class Build
      # "a#{b}": bytes that are put into a text make it one of bytes.
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
