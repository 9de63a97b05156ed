# frozen_string_literal: true

require "corelib/string/unpack"
require "upwell/opal/build/compiler"
require "upwell/opal/build/source_map"

module Upwell
  module Evaluation
    # The compiler within the program, for evaluated Ruby text. The first text loads it.
    module TextCompiler
      # Compiles a text.
      #
      # @param text [String]
      # @param file [String]
      # @param variables [Array<String>] the variables around the text
      # @return [Array(String, String)] JavaScript, and the line of the text for each of its lines
      def self.compile(text, file, variables)
        compiler = Opal::Build::Compiler.new(text, file: file, eval: true, scope_variables: variables)
        [compiler.compile, Opal::Build::SourceMap.of(compiler.fragments)]
      rescue ::Opal::SyntaxError => e
        raise ::SyntaxError, e.message
      end
    end
  end
end
