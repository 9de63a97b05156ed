# frozen_string_literal: true

require "json"
require "opal"
require_relative "../../../../opal/upwell/boot/regexp_translation" # every program contains this file
require_relative "compiler"
require_relative "source_map"

module Upwell
  module Opal
    class Build
      # A compiled file.
      #
      # @!attribute name [String] see {RequireResolver}
      # @!attribute javascript [String]
      # @!attribute mappings [String] the lines of Ruby for lines of JavaScript, see {SourceMap}
      # @!attribute requires [Array<String>] features
      # @!attribute prefixes [Array<String>] beginnings of features whose names are built at run time
      # @!attribute words [Array<String>] symbols and strings among the arguments of calls, from which such names may be built
      Unit = Struct.new(:name, :javascript, :mappings, :requires, :prefixes, :words, keyword_init: true) do
        # Compiles a file.
        #
        # @param name [String]
        # @param source [String] Ruby or JavaScript
        # @param plain [Boolean] whether the file is one of Opal's own
        # @param options [Hash] of the compiler
        # @return [Unit]
        def self.compile(name, source, plain:, symbols:, canonical:, **options)
          return of_javascript(name, source) if name.end_with?(".js")

          options = { file: name, dynamic_require_severity: :ignore, **options }
          compiler = plain ? ::Opal::Compiler.new(source, options) : Compiler.new(source, symbols: symbols, canonical: canonical, **options)
          javascript = compiler.compile
          javascript = with_strings_for_symbols(javascript) if plain
          new(name: name, javascript: javascript, mappings: SourceMap.of(compiler.fragments), requires: compiler.requires,
              prefixes: plain ? [] : compiler.prefixes, words: plain ? [] : compiler.words)
        end

        # A symbol is a string in Opal's own files: the class Symbol is String, `Symbol === name` holds for both, and to_sym returns a string.
        def self.with_strings_for_symbols(javascript)
          javascript
            .gsub(/eqeqeq\(\${2,3}\('Symbol'\)/, "eqeqeq(Opal.SymbolOrString")
            .gsub(/\${2,3}\('Symbol'\)(?=\['\$==='\])/, "Opal.SymbolOrString")
            .gsub(/(\${2,3})\('Symbol'\)/, "\\1('String')")
            .gsub(".$to_sym()", ".$to_str()")
        end
        private_class_method :with_strings_for_symbols

        # @param javascript [String] the code before all units
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
