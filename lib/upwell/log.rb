# frozen_string_literal: true

require "io/wait"
require_relative "clock"

module Upwell
  # The server's own log. Each record begins with the time and the process: "2026-11-22T03:20:00Z upwell[1234]: ...". Or it is a JSON object:
  # {"time":"2026-11-22T03:20:00Z","pid":1234,"message":"..."}.
  module Log
    TIME = "%Y-%m-%dT%H:%M:%SZ"
    PATIENCE = 0.5 # seconds to wait for a slow reader; after that, records are dropped until it reads again
    PIECE_BYTES = 4096 # PIPE_BUF: a writable pipe takes this many bytes without blocking
    DROPPED = "log records were dropped, because the program that reads this log is too slow; write the log to a file with --log-file"
    STANDARD = [1, 2].freeze # the descriptors of standard output and error
    UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/ # lines and tabs of a backtrace remain
    UNPLAIN = /[^ !#-\[\]-~]/ # all but printable ASCII, and quotes and backslashes
    @lost = 0
    @json = false

    class << self
      # @return [Boolean] whether records are JSON objects
      attr_accessor :json
    end

    # Writes one record, in one write. A trap handler may call this method. The wait is short, so that a pipe without a reading process does
    # not delay signals and requests.
    #
    # @param text [String] of one or more lines
    # @param stream [#write]
    # @param request_id [String, nil] of the request that the record is about
    # @return [Boolean] whether the record was written: a full disk or a closed pipe must not stop the server
    def self.tell(text, stream = $stderr, request_id: nil)
      tell_lost(stream) if @lost.positive? && room?(stream, 0)
      written = put(record(text, request_id), stream)
      @lost += 1 unless written
      written
    rescue StandardError
      false
    end

    # Writes a line to standard output, or a JSON object to the log. An error is ignored, since standard output may be closed.
    #
    # @param text [String] one line
    # @return [void]
    def self.announce(text)
      json ? tell(text) : put("#{text}\n", $stdout)
    rescue SystemCallError, IOError
      nil
    end

    # Escapes all but printable ASCII, so that a client's text cannot forge a part of a record.
    #
    # @param text [String] of any encoding
    # @return [String] in ASCII
    def self.plain(text)
      text.b.gsub(/[^ -~]/n) { |byte| format("\\x%02X", byte.ord) }.encode(Encoding::US_ASCII)
    end

    # The count is reset first: while one fiber waits here, others must not report the same records.
    def self.tell_lost(stream)
      lost = @lost
      @lost = 0
      @lost += lost unless put(record("#{lost} #{DROPPED}"), stream)
    end
    private_class_method :tell_lost

    def self.record(text, request_id = nil)
      time = Time.now.utc.strftime(TIME)
      return json_record(time, valid(text), request_id) if json

      "#{time} upwell[#{Process.pid}]: #{"[#{plain(request_id)}] " if request_id}#{indented(printable(valid(text)))}\n"
    end
    private_class_method :record

    def self.json_record(time, text, request_id)
      id = %(,"request_id":"#{escape(valid(request_id))}") if request_id
      %({"time":"#{time}","pid":#{Process.pid},"message":"#{escape(text)}"#{id}}\n)
    end
    private_class_method :json_record

    # Texts of clients and applications may have any encoding, and may be invalid.
    def self.valid(text)
      text.dup.force_encoding(Encoding::UTF_8).scrub("?").chomp
    end
    private_class_method :valid

    # A message of an exception may hold a client's text.
    def self.printable(text)
      text.gsub(UNPRINTABLE) { |character| format("\\x%02X", character.ord) }
    end
    private_class_method :printable

    # A message of an exception may hold a client's line break, and the next line would look like a record.
    def self.indented(text)
      text.gsub(/\n(?=[^\s])/, "\n    ")
    end
    private_class_method :indented

    # The escapes of JSON. A code point above U+FFFF is written as a surrogate pair.
    def self.escape(text)
      text.gsub(UNPLAIN) do |character|
        point = character.ord
        point < 0x10000 ? format("\\u%04x", point) : format("\\u%04x\\u%04x", 0xd7c0 + (point >> 10), 0xdc00 + (point & 0x3ff))
      end
    end
    private_class_method :escape

    # @return [Boolean] false when the reader is too slow
    def self.put(text, stream)
      pieces = waits?(stream) ? text.b.scan(/.{1,#{PIECE_BYTES}}/mno) : [text]
      deadline = Clock.now + (@lost.zero? ? PATIENCE : 0)
      pieces.all? { |piece| put_piece(piece, stream, deadline) }
    end
    private_class_method :put

    # Another process may fill the buffer first, and a terminal may take only a part.
    def self.put_piece(piece, stream, deadline)
      loop do
        return false unless room?(stream, [deadline - Clock.now, 0].max)

        piece = piece.byteslice(write(piece, stream)..)
        return true if piece.empty?
        return false if Clock.now >= deadline
      end
    end
    private_class_method :put_piece

    # @return [Integer] the number of bytes written
    def self.write(piece, stream)
      return write_standard(piece, stream) if defined?(Descriptor) && waits?(stream) && STANDARD.include?(stream.fileno)

      stream.write(piece)
      stream.flush if stream.respond_to?(:flush)
      piece.bytesize
    end
    private_class_method :write

    # The reader may be gone, and the application may have restored SIGPIPE's default action.
    def self.write_standard(piece, stream)
      stream.flush
      Descriptor.write(stream.fileno, piece)
    end
    private_class_method :write_standard

    # @return [Boolean] whether a write may block: on a pipe, a socket or a terminal
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
