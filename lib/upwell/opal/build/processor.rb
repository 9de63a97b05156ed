# frozen_string_literal: true

require "opal/builder_processors"
require_relative "compiler"

module Upwell
  module Opal
    class Build
      # Compiles a file that is not Opal's own.
      class Processor < ::Opal::BuilderProcessors::RubyProcessor
        def self.match?(path)
          !path.start_with?(*OPAL_PATHS) && File.extname(path) != ".js"
        end

        def compiler_for(source, options = {})
          Compiler.new(source, @options.merge(options))
        end
      end
    end
  end
end
