# frozen_string_literal: true

module Upwell
  # What the server itself tells the operator: each record begins with the time and the process, "2026-11-22T03:20:00Z upwell[1234]: ...".
  module Log
    TIME = "%Y-%m-%dT%H:%M:%SZ"

    # Writes one record, in one piece. May be called in a trap handler.
    #
    # @param text [String] of one or more lines
    # @param stream [#write]
    # @return [Boolean] whether it was written: a full disk or a closed pipe must not end the server
    def self.tell(text, stream = $stderr)
      stream.write("#{Time.now.utc.strftime(TIME)} upwell[#{Process.pid}]: #{printable(text)}\n")
      stream.flush if stream.respond_to?(:flush)
      true
    rescue StandardError
      false
    end

    # Tells whoever started the server, on standard output. Nobody needs to be there.
    #
    # @param text [String] one line
    # @return [void]
    def self.announce(text)
      $stdout.write("#{text}\n")
      $stdout.flush
    rescue SystemCallError, IOError
      nil
    end

    # Texts of clients and applications come in any encoding, and not always in a valid one.
    def self.printable(text)
      text.dup.force_encoding(Encoding::UTF_8).scrub("?").chomp
    end
    private_class_method :printable
  end
end
