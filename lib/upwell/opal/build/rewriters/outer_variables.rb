# frozen_string_literal: true

require_relative "rewriter"

module Upwell
  module Opal
    class Build
      module Rewriters
        # In evaluated text, a name is a variable if the code around the text has such a variable.
        class OuterVariables < Rewriter
          SCOPES = %i[def defs class module sclass].freeze # these do not see outer variables

          # @param names [Array<String>]
          def initialize(names)
            super()
            @names = names.map(&:to_sym)
          end

          def on_send(node)
            receiver, name, *arguments = *node
            return s(:lvar, name) if receiver.nil? && arguments.empty? && @names.include?(name)

            super
          end

          SCOPES.each { |type| define_method(:"on_#{type}") { |node| node } }
        end
      end
    end
  end
end
