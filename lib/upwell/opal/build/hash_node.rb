# frozen_string_literal: true

require "opal/nodes"

module Upwell
  module Opal
    class Build
      # A hash's literal. Opal has the runtime iterate over an Array of Arrays, which takes several times as long.
      class HashNode < ::Opal::Nodes::HashNode
        def compile_hash
          return super if keys.empty? || !simple_keys?

          children.each_with_index do |pair, index|
            key, value = pair.children
            push ", " unless index.zero?
            push(key.type == :int ? expr(key) : key.children[0].to_s.inspect, ", ", expr(value))
          end
          wrap "Opal.hash_of(", ")"
        end
      end
    end
  end
end
