# frozen_string_literal: true

require "opal"
require "opal/builder"
require "opal/builder_scheduler/sequential"
require_relative "gem_paths"

module Upwell
  module Opal
    # Compiles Ruby, with all that it requires, to one JavaScript program. Loads the gem opal, which takes its time: only what has to be
    # compiled comes here.
    class Build
      ROOT = File.expand_path("../../..", __dir__)
      OWN_PATHS = %w[opal opal/shims lib].map { |folder| File.join(ROOT, folder) }.freeze
      OPAL_PATHS = [::Opal.core_dir, ::Opal.std_dir, ::Opal.gem_dir].freeze

      # @param gem_paths [GemPaths]
      def initialize(gem_paths)
        @sources = Sources.new([*OWN_PATHS, *OPAL_PATHS, *gem_paths.to_a], gem_paths)
      end

      # @param source [String] Ruby
      # @param path [String] its file
      # @return [String] JavaScript
      def javascript(source, path)
        builder.build("opal").build_require("upwell/boot", load: true)
        builder.build_str(source, path)
        builder.to_s
      end

      private

      def builder
        @builder ||= ::Opal::Builder.new(path_reader: @sources, processors: [Processor, *::Opal::Builder.processors],
                                         scheduler: ::Opal::BuilderScheduler::Sequential, missing_require_severity: :ignore,
                                         compiler_options: { dynamic_require_severity: :ignore })
      end
    end
  end
end

require_relative "build/processor"
require_relative "build/sources"
