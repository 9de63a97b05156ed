# frozen_string_literal: true

require "json"
require "opal/nodes"

module Upwell
  module Opal
    class Build
      # Compiles a string literal. A string that is invalid in its encoding is written as bytes: Opal cannot distinguish "\xE9" from "é".
      class StringNode < ::Opal::Nodes::StringNode
        def compile
          return push("Opal.own_path(#{JSON.generate(value)})") if own_file?
          return super if value.valid_encoding?

          push "Opal.from_latin1(\"#{value.bytes.map { |byte| format("\\x%02x", byte) }.join}\")"
        end

        private

        # Checks whether the literal is __FILE__ in the application's directory.
        def own_file?
          value == compiler.file && value.start_with?(RequireResolver::OWN)
        end
      end
    end
  end
end
