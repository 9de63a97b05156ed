# frozen_string_literal: true

require_relative "failure_report"

module Torture
  # Somebody else's bytes were received.
  Foreign = Class.new(StandardError)

  # Bytes that tell whose they are, wherever they are cut.
  class MarkedBytes
    TOLD_MAX = 200 # bytes of what is wrong

    # @param owner [String]
    def initialize(owner)
      @token = "#{owner};".b
    end

    # @return [String] this part of the endless stream
    def bytes(length, from = 0)
      start = from % @token.bytesize
      (@token * ((start + length).fdiv(@token.bytesize).ceil)).byteslice(start, length)
    end

    # @raise [Foreign] unless the piece is what comes there
    def check(piece, from)
      expected = bytes(piece.bytesize, from)
      return if piece.b == expected

      FailureReport.sound("foreign bytes for #{@token} at #{from}: #{piece.b[0, TOLD_MAX].inspect}")
      raise Foreign, "foreign bytes for #{@token}"
    end
  end
end
