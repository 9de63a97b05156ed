# frozen_string_literal: true

require "json"
require "opal/nodes"

module Upwell
  module Opal
    class Build
      # A call. What it is given may be the name of a feature that is made when the program runs: `plugin :json` requires "roda/plugins/json".
      class CallNode < ::Opal::Nodes::CallNode
        EVALUATIONS = %i[class_eval module_eval instance_eval].freeze

        def compile
          arglist.children.each { |argument| compiler.words << argument.children.first.to_s if %i[sym str].include?(argument.type) }
          compiler.requires << "upwell/evaluation" if evaluates_text?
          super
        end

        private

        def evaluates_text?
          EVALUATIONS.include?(meth) && ![nil, :block_pass, :splat].include?(arglist.children.first&.type)
        end

        def handle_require(compile_default)
          feature = arglist.children.first
          note_prefix(feature) if feature&.type == :dstr
          @arglist = s(:arglist, s(:str, compiler.canonical(feature.children.first))) if feature&.type == :str
          super
        end

        def note_prefix(feature)
          first = feature.children.first
          compiler.prefixes << first.children.first if first.type == :str && first.children.first.end_with?("/")
        end

        # The folder where the program finds the application, not the one where it was compiled.
        def handle___dir__
          return super unless compiler.file.start_with?(Sources::OWN)

          push "Opal.own_path(#{JSON.generate(File.dirname(compiler.file))})"
        end
      end
    end
  end
end
