# backtick_javascript: true
# frozen_string_literal: true

require "upwell/log"

module Upwell
  class Program < Command
    # Handles the operator's signals.
    module Signals
      # Installs handlers.
      #
      # @param handlers [Hash{String => #call}] by signal name, called with the name
      def self.trap(handlers)
        handlers.each do |name, handler|
          signal = "SIG#{name}"
          `process.on(signal, () => #{handler.call(name)})`
        end
      end

      # Ignores signals that only the C core uses. By default they would end the process, or start the runtime's debugger.
      def self.ignore_others
        trap(%w[USR1 USR2 TTIN].to_h { |signal| [signal, ->(name) { Log.tell("SIG#{name} is ignored") }] })
      end
    end
  end
end
