# frozen_string_literal: true

require "json"
require "opal/nodes"

module Upwell
  module Opal
    class Build
      # Compiles a regular expression literal. A literal without interpolation is translated at compile time, and created once at run time.
      class RegexpNode < ::Opal::Nodes::Base
        def compile
          *parts, options = *@sexp
          letters = options.children.join.tr("^imx", "")
          return compose(parts, letters) unless parts.all? { |part| part.type == :str }

          compile_once(parts.map { |part| part.children.first }.join, letters)
        end

        private

        def compile_once(ruby, letters)
          translation = RegexpTranslation.new(ruby, letters)
          constant = compiler.unique_temp("regexp")
          compiler.top_scope.add_scope_temp(constant)
          arguments = [translation.source, translation.flags, ruby, letters, translation.names].map { |argument| script(argument) }
          push "(#{constant} || (#{constant} = Opal.ruby_regexp(#{arguments.join(", ")})))"
        end

        def compose(parts, letters)
          push "Opal.compose_regexp(["
          parts.each_with_index { |part, index| push(*[(", " unless index.zero?), expr(part)].compact) }
          push "], #{script(letters)})"
        end

        def script(value)
          JSON.generate(value, script_safe: true)
        end
      end
    end
  end
end
