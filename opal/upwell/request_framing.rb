# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # Determines the length of a request's content (RFC 9112, section 6), because some runtimes accept more than the RFC allows. A proxy may find
  # another end of the content, and so another next request.
  module RequestFraming
    CHUNKED = -1
    BAD_REQUEST = -400
    NOT_IMPLEMENTED = -501

    `const DIGITS = /^\d+$/, KNOWN = /^chunked$/i, UNKNOWN = /^(?!.*\bchunked[ \t]*,).*,[ \t]*chunked$/i`

    # Parses Content-Length.
    #
    # @param text [JavaScript String] the value of Content-Length
    # @return [JavaScript Number] the length, or BAD_REQUEST
    def self.length(text)
      `DIGITS.test(text) ? +text : #{BAD_REQUEST}`
    end

    # Parses Transfer-Encoding.
    #
    # @param text [JavaScript String] the value of Transfer-Encoding
    # @return [JavaScript Number] CHUNKED, or a status below zero
    def self.coding(text)
      `KNOWN.test(text) ? #{CHUNKED} : UNKNOWN.test(text) ? #{NOT_IMPLEMENTED} : #{BAD_REQUEST}`
    end
  end
end
