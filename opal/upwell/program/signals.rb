# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  class Program < Command
    # Handles the operator's signals. By default some would end the process, or start the runtime's debugger.
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
    end
  end
end
