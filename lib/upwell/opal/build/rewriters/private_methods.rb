# frozen_string_literal: true

require_relative "rewriter"

module Upwell
  module Opal
    class Build
      module Rewriters
        # Compiles `private` without names, which applies to the methods defined after it in the body of a class or a block. Each definition
        # gets `private` itself (`private def wipe`), so that reflection reports private methods.
        class PrivateMethods < Rewriter
          WORDS = { private: :private, protected: :protected, public: nil, module_function: :private }.freeze
          MAKERS = %i[attr attr_reader attr_writer attr_accessor define_method].freeze
          # Blocks that belong to the surrounding body. Other blocks may be the body of another class (Class.new, class_eval).
          LOOPS = /\A(?:(?:reverse_)?each\w*|times|upto|downto|step|(?:flat_|filter_)?map|select|filter|reject|reduce|inject|tap|then|loop)\z/

          %i[on_class on_module on_sclass on_defs].each do |name|
            define_method(name) { |node| within_body { super(node) } }
          end

          def on_def(node)
            given(node, within_body { super })
          end

          def on_iter(node)
            within_body { process_regular_node(node) }
          end

          def on_send(node)
            receiver, name, *arguments = *node
            @visibility = WORDS[name] if receiver.nil? && arguments.empty? && WORDS.key?(name)
            sent = node.updated(nil, [rewritten(receiver), name, *arguments.map { |argument| passed(name, argument) }])
            receiver.nil? && MAKERS.include?(name) ? given(node, sent) : sent
          end

          private

          def passed(name, argument)
            LOOPS.match?(name) && argument.type == :iter ? process_regular_node(argument) : rewritten(argument)
          end

          def given(node, made)
            @visibility ? node.updated(:send, [nil, @visibility, made]) : made
          end

          def within_body
            outer = @visibility
            @visibility = nil
            yield
          ensure
            @visibility = outer
          end
        end
      end
    end
  end
end
