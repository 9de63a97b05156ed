# frozen_string_literal: true

require "io/wait"
require_relative "clock"

module Upwell
  # What the server itself tells the operator: each record begins with the time and the process, "2026-11-22T03:20:00Z upwell[1234]: ...".
  module Log
    TIME = "%Y-%m-%dT%H:%M:%SZ"
    PATIENCE = 0.5 # seconds for a reader that does not read; from then on records are lost at once, until it reads again
    PIECE_BYTES = 4096 # PIPE_BUF: what is writable takes as much without waiting
    STANDARD = [1, 2].freeze # the numbers of standard output and error
    @lost = 0

    # Writes one record, in one piece. May be called in a trap handler. Nobody waits for long: signals are to be obeyed, and requests answered,
    # though a pipe's reader stands still.
    #
    # @param text [String] of one or more lines
    # @param stream [#write]
    # @return [Boolean] whether it was written: a full disk or a closed pipe must not end the server
    def self.tell(text, stream = $stderr)
      tell_lost(stream) if @lost.positive? && room?(stream, 0)
      written = put(record(text), stream)
      @lost += 1 unless written
      written
    rescue StandardError
      false
    end

    # Tells whoever started the server, on standard output. Nobody needs to be there.
    #
    # @param text [String] one line
    # @return [void]
    def self.announce(text)
      put("#{text}\n", $stdout)
    rescue SystemCallError, IOError
      nil
    end

    # Of a fiber that waits here others must not tell the same.
    def self.tell_lost(stream)
      lost = @lost
      @lost = 0
      @lost += lost unless put(record("#{lost} records are lost: nobody has read the log"), stream)
    end
    private_class_method :tell_lost

    def self.record(text)
      "#{Time.now.utc.strftime(TIME)} upwell[#{Process.pid}]: #{printable(text)}\n"
    end
    private_class_method :record

    # Texts of clients and applications come in any encoding, and not always in a valid one.
    def self.printable(text)
      text.dup.force_encoding(Encoding::UTF_8).scrub("?").chomp
    end
    private_class_method :printable

    # @return [Boolean] false when the reader does not read
    def self.put(text, stream)
      pieces = waits?(stream) ? text.b.scan(/.{1,#{PIECE_BYTES}}/mno) : [text]
      deadline = Clock.now + (@lost.zero? ? PATIENCE : 0)
      pieces.all? { |piece| put_piece(piece, stream, deadline) }
    end
    private_class_method :put

    # Another process may take the room that there is, and a terminal have room for a part.
    def self.put_piece(piece, stream, deadline)
      loop do
        return false unless room?(stream, [deadline - Clock.now, 0].max)

        piece = piece.byteslice(write(piece, stream)..)
        return true if piece.empty?
        return false if Clock.now >= deadline
      end
    end
    private_class_method :put_piece

    # @return [Integer] the bytes that there was room for
    def self.write(piece, stream)
      return write_standard(piece, stream) if defined?(Descriptor) && waits?(stream) && STANDARD.include?(stream.fileno)

      stream.write(piece)
      stream.flush if stream.respond_to?(:flush)
      piece.bytesize
    end
    private_class_method :write

    # Others may read no more, and the application have SIGPIPE end the process.
    def self.write_standard(piece, stream)
      stream.flush
      Descriptor.write(stream.fileno, piece)
    end
    private_class_method :write_standard

    # @return [Boolean] whether a write may have to wait for others: on a pipe, a socket or a terminal
    def self.waits?(stream)
      stream.is_a?(IO) && !stream.stat.file?
    end
    private_class_method :waits?

    def self.room?(stream, patience)
      !waits?(stream) || !stream.wait_writable(patience).nil?
    end
    private_class_method :room?
  end
end
