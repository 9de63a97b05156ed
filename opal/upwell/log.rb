# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # The server's own log. Each record begins with the time and the process: "2026-11-22T03:20:00Z upwell[1234]: ...".
  module Log
    # A full disk or a closed pipe must not stop the server.
    %x{
      process.stdout.on("error", () => {});
      process.stderr.on("error", () => {});
    }

    class << self
      # Writes one record.
      #
      # @param text [String] of one or more lines
      # @return [void]
      def tell(text)
        `process.stderr.write(#{record(text)})`
      end

      # @param text [String]
      # @return [String] the record
      def record(text)
        `new Date().toISOString().replace(/\.\d+/, "") + " upwell[" + process.pid + "]: " + text.trimEnd() + "\n"`
      end

      # Writes a line to standard output.
      #
      # @param text [String] one line
      # @return [void]
      def announce(text)
        `process.stdout.write(text + "\n")`
      end
    end
  end
end
