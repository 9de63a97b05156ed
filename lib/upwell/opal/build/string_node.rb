# frozen_string_literal: true

require "json"
require "opal/nodes"

module Upwell
  module Opal
    class Build
      # A string's literal. What is not valid in its encoding is written as bytes: Opal's own way cannot tell "\xE9" from "é".
      class StringNode < ::Opal::Nodes::StringNode
        def compile
          return push("Opal.own_path(#{JSON.generate(value)})") if own_file?
          return super if value.valid_encoding?

          push "Opal.from_latin1(\"#{value.bytes.map { |byte| format("\\x%02x", byte) }.join}\")"
        end

        private

        # Whether it is __FILE__, in the application's folder.
        def own_file?
          value == compiler.file && value.start_with?(Sources::OWN)
        end
      end
    end
  end
end
