# frozen_string_literal: true

require "opal/nodes"

module Upwell
  module Opal
    class Build
      # Compiles the changes that {Rewriters::StringMutations} found. The called functions are in opal/upwell/boot/mutable_and_binary_strings.js.
      class ChangeNode < ::Opal::Nodes::Base
        private

        def call(function, held, name, arguments, set = nil)
          *arguments, block = arguments if %i[iter block_pass].include?(arguments.last&.type)
          push "Opal.#{function}(", *held, ", #{name.to_s.inspect}, ", expr(s(:array, *arguments)), ", ", *block(block), *set, ")"
        end

        # Facts about a block follow it as a further argument.
        def block(block)
          return ["nil"] unless block

          block.type == :iter ? ["Opal.block(", expr(block), ")"] : [expr(block)]
        end
      end

      # text << "b" with a variable: the most frequent change, compiled to fast code
      class AppendNode < ChangeNode
        def compile
          variable, argument = *@sexp
          append = s(:jscall, s(:js_tmp, :Opal), :append, variable, argument)
          push "(", expr(variable), ".$$is_string ? ", expr(Rewriters::StringMutations.assignment(variable, append)), " : "
          push expr(variable), "['$<<'](", expr(argument), "))"
        end
      end

      # text.gsub!(…) with a variable
      class ChangeVariableNode < ChangeNode
        def compile
          receiver, variable, name, *arguments = *@sexp
          set = expr(Rewriters::StringMutations.assignment(variable, s(:js_tmp, :$changed)))
          call("change", [expr(receiver)], name, arguments, [", ($changed) => ", set])
        end
      end

      # A string without a holder ("a".dup << "b"), or a constant, which must keep its value.
      class ChangeFreshNode < ChangeNode
        def compile
          receiver, name, *arguments = *@sexp
          call("change", [expr(receiver)], name, arguments, [", Opal.#{receiver.type == :const ? "constant" : "nobody"}_holds"])
        end
      end

      # new_text&.strip!
      class ChangeFreshUnlessNilNode < ChangeNode
        def compile
          receiver, name, *arguments = *@sexp
          call("change_unless_nil", [expr(receiver)], name, arguments)
        end
      end

      # text << "b" with a parameter, whose string the caller holds, too
      class ChangeGivenNode < ChangeNode
        def compile
          receiver, name, *arguments = *@sexp
          call("change", [expr(receiver)], name, arguments, [", Opal.caller_holds"])
        end
      end

      # copy = text; copy << "b"; text
      class ChangeSharedNode < ChangeNode
        def compile
          receiver, name, *arguments = *@sexp
          call("change", [expr(receiver)], name, arguments, [", Opal.variable_holds"])
        end
      end

      # list.each(&:upcase!)
      class ChangeEachNode < ChangeNode
        def compile
          list, name = *@sexp
          call("change_each", [expr(list)], name, [])
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
