# frozen_string_literal: true

require "json"
require "opal"
require_relative "compiler"
require_relative "mappings"

module Upwell
  module Opal
    class Build
      # A file, compiled.
      #
      # @!attribute name [String] see {Sources}
      # @!attribute javascript [String]
      # @!attribute mappings [String] which line of Ruby each line of JavaScript comes from, see {Mappings}
      # @!attribute requires [Array<String>] features
      # @!attribute prefixes [Array<String>] what features start with whose names are made when the program runs
      # @!attribute words [Array<String>] symbols and strings that calls are given: such names may be made of them
      Unit = Struct.new(:name, :javascript, :mappings, :requires, :prefixes, :words, keyword_init: true) do
        # @param name [String]
        # @param source [String] Ruby or JavaScript
        # @param plain [Boolean] whether it is one of Opal's own files
        # @param options [Hash] of the compiler
        # @return [Unit]
        def self.compile(name, source, plain:, symbols:, canonical:, **options)
          return of_javascript(name, source) if name.end_with?(".js")

          options = { file: name, dynamic_require_severity: :ignore, **options }
          compiler = plain ? ::Opal::Compiler.new(source, options) : Compiler.new(source, symbols: symbols, canonical: canonical, **options)
          javascript = compiler.compile
          javascript = with_strings_for_symbols(javascript) if plain
          new(name: name, javascript: javascript, mappings: Mappings.of(compiler.fragments), requires: compiler.requires,
              prefixes: plain ? [] : compiler.prefixes, words: plain ? [] : compiler.words)
        end

        # In Opal's own files a symbol is a string: the class Symbol is String, `Symbol === name` holds for both, and to_sym gives a string.
        def self.with_strings_for_symbols(javascript)
          javascript
            .gsub(/eqeqeq\(\${2,3}\('Symbol'\)/, "eqeqeq(Opal.SymbolOrString")
            .gsub(/\${2,3}\('Symbol'\)(?=\['\$==='\])/, "Opal.SymbolOrString")
            .gsub(/(\${2,3})\('Symbol'\)/, "\\1('String')")
            .gsub(".$to_sym()", ".$to_str()")
        end
        private_class_method :with_strings_for_symbols

        # @param javascript [String] what comes before all units
        # @return [Unit]
        def self.head(javascript)
          new(name: "", javascript: javascript, mappings: "", requires: [], prefixes: [], words: [])
        end

        def self.of_javascript(name, source)
          new(name: name, javascript: "#{source}\nOpal.loaded([#{JSON.generate(name)}]);\n", mappings: "", requires: [], prefixes: [], words: [])
        end
      end
    end
  end
end
