# frozen_string_literal: true

require "json"
require "opal/nodes"
require_relative "require_resolver"
require_relative "template_engines"

module Upwell
  module Opal
    class Build
      # Compiles a call. Its arguments may name a feature at run time: `plugin :json` requires "roda/plugins/json".
      class CallNode < ::Opal::Nodes::CallNode
        EVALUATIONS = %i[class_eval module_eval instance_eval].freeze
        # Receivers of an `eval` that evaluates Ruby: redis.eval evaluates Lua.
        BINDINGS = /binding|\AKernel\z/i
        # Rack::Builder evaluates the text of a config.ru. In a program config.ru is compiled.
        WITHOUT_COMPILER = %w[rack/builder.rb].freeze

        def compile
          note_words
          compiler.requires << "upwell/evaluation" if evaluates_text?
          super
        end

        private

        def note_words
          arglist.children.each { |argument| compiler.words << argument.children.first.to_s if %i[sym str].include?(argument.type) }
          compiler.words << meth.to_s if recvr.nil? && TemplateEngines.named?(meth)
        end

        def evaluates_text?
          evaluation? && ![nil, :block_pass, :splat].include?(arglist.children.first&.type) && !WITHOUT_COMPILER.include?(compiler.file)
        end

        def evaluation?
          return EVALUATIONS.include?(meth) unless meth == :eval

          recvr.nil? || recvr.children.grep(Symbol).last.to_s.match?(BINDINGS)
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

        # The value is the directory of the application at run time, not at compile time.
        def handle___dir__
          return super unless compiler.file.start_with?(RequireResolver::OWN)

          push "Opal.own_path(#{JSON.generate(File.dirname(compiler.file))})"
        end
      end
    end
  end
end
