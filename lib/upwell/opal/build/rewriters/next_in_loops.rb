# frozen_string_literal: true

require_relative "rewriter"

module Upwell
  module Opal
    class Build
      module Rewriters
        # Compiles `next value` in a loop. Ruby ignores the value, and Opal would not compute it.
        class NextInLoops < Rewriter
          def on_while(node)
            within(true) { super }
          end

          def on_until(node)
            within(true) { super }
          end

          alias on_while_post on_while
          alias on_until_post on_until

          def on_iter(node)
            within(false) { process_regular_node(node) }
          end

          def on_def(node)
            within(false) { super }
          end

          def on_next(node)
            inner = super
            @loop && inner.children.any? ? s(:begin, *inner.children, inner.updated(nil, [])) : inner
          end

          private

          def within(kind)
            outer = @loop
            @loop = kind
            yield
          ensure
            @loop = outer
          end
        end
      end
    end
  end
end
