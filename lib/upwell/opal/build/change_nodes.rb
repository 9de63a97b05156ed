# frozen_string_literal: true

require "opal/nodes"

module Upwell
  module Opal
    class Build
      # What {Rewriters::Changes} found, see opal/upwell/boot/text.js for what is called.
      class ChangeNode < ::Opal::Nodes::Base
        private

        def call(function, held, name, arguments, set = nil)
          *arguments, block = arguments if %i[iter block_pass].include?(arguments.last&.type)
          push "Opal.#{function}(", *held, ", #{name.to_s.inspect}, ", expr(s(:array, *arguments)), ", ", *block(block), *set, ")"
        end

        # What is known of a block follows it, as a further argument.
        def block(block)
          return ["nil"] unless block

          block.type == :iter ? ["Opal.block(", expr(block), ")"] : [expr(block)]
        end
      end

      # text << "b", where text is a variable: what most changes are, and fast
      class AppendNode < ChangeNode
        def compile
          variable, argument = *@sexp
          append = s(:jscall, s(:js_tmp, :Opal), :append, variable, argument)
          push "(", expr(variable), ".$$is_string ? ", expr(Rewriters::Changes.assignment(variable, append)), " : "
          push expr(variable), "['$<<'](", expr(argument), "))"
        end
      end

      # text.gsub!(…), where text is a variable
      class ChangeVariableNode < ChangeNode
        def compile
          receiver, variable, name, *arguments = *@sexp
          set = expr(Rewriters::Changes.assignment(variable, s(:js_tmp, :$changed)))
          call("change", [expr(receiver)], name, arguments, [", ($changed) => ", set])
        end
      end

      # A string that nothing holds, "a".dup << "b"; or a constant, which is not to hold another.
      class ChangeFreshNode < ChangeNode
        def compile
          receiver, name, *arguments = *@sexp
          call("change", [expr(receiver)], name, arguments, [", Opal.#{receiver.type == :const ? "constant" : "nobody"}_holds"])
        end
      end

      # list[0] << "b"
      class ChangeElementNode < ChangeNode
        def compile
          holder, keys, name, *arguments = *@sexp
          call("change_element", [expr(holder), ", ", expr(s(:array, *keys))], name, arguments)
        end
      end

      # thing.name << "b"
      class ChangeAttributeNode < ChangeNode
        def compile
          holder, reader, name, *arguments = *@sexp
          compiler.record_method_call(reader)
          call("change_attribute", [expr(holder), ", ", reader.to_s.inspect], name, arguments)
        end
      end
    end
  end
end
