# frozen_string_literal: true

require "opal/builder_processors"
require_relative "compiler"

module Upwell
  module Opal
    class Build
      # Compiles a file that is not Opal's own.
      class Processor < ::Opal::BuilderProcessors::RubyProcessor
        FINGERPRINT = Digest::SHA256.hexdigest(Dir["#{__dir__}/**/*.rb", "#{ROOT}/opal/upwell/boot/regexp_translation.rb"].sort.map do |path|
          File.read(path)
        end.join)

        def self.match?(path)
          !path.start_with?(*OPAL_PATHS) && File.extname(path) != ".js"
        end

        def cache_key
          super << FINGERPRINT
        end

        def compiler_for(source, options = {})
          Compiler.new(source, @options.merge(options))
        end
      end
    end
  end
end
