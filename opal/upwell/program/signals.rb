# backtick_javascript: true
# frozen_string_literal: true

require "upwell/log"

module Upwell
  class Program < Command
    # What the operator may ask of a process.
    module Signals
      # @param handlers [Hash{String => #call}] by the signal's name, called with it
      def self.obey(handlers)
        handlers.each do |name, handler|
          signal = "SIG#{name}"
          `process.on(signal, () => #{handler.call(name)})`
        end
      end

      # Those that mean something to the core alone, and would otherwise end the process, or start the runtime's debugger.
      def self.ignore_others
        obey(%w[USR1 USR2 TTIN].to_h { |signal| [signal, ->(name) { Log.tell("SIG#{name} has no meaning here") }] })
      end
    end
  end
end
