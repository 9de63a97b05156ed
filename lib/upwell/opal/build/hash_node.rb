# frozen_string_literal: true

require "json"
require "opal/nodes"

module Upwell
  module Opal
    class Build
      # Compiles a hash literal. Opal's code iterates over an Array of Arrays at run time, which is several times slower.
      class HashNode < ::Opal::Nodes::HashNode
        def compile_hash
          return super if keys.empty?
          return compile_with_other_keys unless simple_keys?

          push_pairs("", "")
          wrap "Opal.hash_of(", ")"
        end

        private

        def compile_with_other_keys
          helper :hash_rehash
          push_pairs("[", "]")
          wrap "$hash_rehash(new Map([", "]))"
        end

        def push_pairs(before, after)
          children.each_with_index do |pair, index|
            key, value = pair.children
            push ", " unless index.zero?
            push before, *key(key), ", ", expr(value), after
          end
        end

        # The key of a string or symbol is a JavaScript string.
        def key(node)
          case node.type
          when :sym then [JSON.generate(node.children.first.to_s.encode(Encoding::UTF_8), script_safe: true)]
          when :str then [expr(node), (".valueOf()" if bytes?(node.children.first))].compact
          else [expr(node)]
          end
        end

        def bytes?(text)
          !text.valid_encoding? || (text.encoding != Encoding::UTF_8 && !text.ascii_only?)
        end
      end
    end
  end
end
