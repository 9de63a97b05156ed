# frozen_string_literal: true

# Requests in which a proxy and a server may see different ends or different hosts (RFC 9112, section 11.2). What follows in the same bytes
# asks for /smuggled. Each is refused, and its connection is closed.
module RequestSmugglingCases
  HEAD = "POST /echo HTTP/1.1\r\nHost: a\r\n"
  SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
  CHUNKS = "1\r\na\r\n0\r\n\r\n"
  CODED = "#{HEAD}Transfer-Encoding: chunked\r\n\r\n".freeze

  # @return [Hash{String => String}] requests by what is wrong with them
  ALL = {
    "two lengths" => "#{HEAD}Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    "the same length twice" => "#{HEAD}Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde",
    "a list of lengths" => "#{HEAD}Content-Length: 5, 5\r\n\r\nabcde",
    "a length with a sign" => "#{HEAD}Content-Length: +5\r\n\r\nabcde",
    "a length below zero" => "#{HEAD}Content-Length: -5\r\n\r\nabcde",
    "a hexadecimal length" => "#{HEAD}Content-Length: 0x5\r\n\r\nabcde",
    "a length with a space" => "#{HEAD}Content-Length: 5 5\r\n\r\nabcde",
    "a length with a point" => "#{HEAD}Content-Length: 5.0\r\n\r\nabcde",
    "an empty length" => "#{HEAD}Content-Length: \r\n\r\n",
    "a length beyond 64 bits" => "#{HEAD}Content-Length: 18446744073709551621\r\n\r\nabcde",
    "a length with a vertical tab" => "#{HEAD}Content-Length: \v5\r\n\r\nabcde",
    "a length and chunks" => "#{HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n#{CHUNKS}",
    "chunks and a length" => "#{HEAD}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n#{CHUNKS}",
    "xchunked" => "#{HEAD}Transfer-Encoding: xchunked\r\n\r\n#{CHUNKS}",
    "chunkedx" => "#{HEAD}Transfer-Encoding: chunkedx\r\n\r\n#{CHUNKS}",
    "chunked, identity" => "#{HEAD}Transfer-Encoding: chunked, identity\r\n\r\n#{CHUNKS}",
    "identity" => "#{HEAD}Transfer-Encoding: identity\r\n\r\n#{CHUNKS}",
    "identity, chunked" => "#{HEAD}Transfer-Encoding: identity, chunked\r\n\r\n#{CHUNKS}",
    "gzip, chunked" => "#{HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n#{CHUNKS}",
    "chunked twice" => "#{HEAD}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n#{CHUNKS}",
    "chunked, chunked" => "#{HEAD}Transfer-Encoding: chunked, chunked\r\n\r\n#{CHUNKS}",
    "chunked and identity in two fields" => "#{HEAD}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n#{CHUNKS}",
    "chunked in quotes" => "#{HEAD}Transfer-Encoding: \"chunked\"\r\n\r\n#{CHUNKS}",
    "chunked with a parameter" => "#{HEAD}Transfer-Encoding: chunked;q=1\r\n\r\n#{CHUNKS}",
    "chunked with a vertical tab" => "#{HEAD}Transfer-Encoding: \vchunked\r\n\r\n#{CHUNKS}",
    "no coding" => "#{HEAD}Transfer-Encoding: \r\n\r\n#{CHUNKS}",
    "a space before the colon" => "#{HEAD}Transfer-Encoding : chunked\r\n\r\n#{CHUNKS}",
    "a space before the colon of a length" => "#{HEAD}Content-Length : 5\r\n\r\nabcde",
    "a folded coding" => "#{HEAD}Transfer-Encoding:\r\n chunked\r\n\r\n#{CHUNKS}",
    "a folded field" => "#{HEAD}X: a\r\n Content-Length: 5\r\n\r\n",
    "a line that is no field" => "#{HEAD}Content-Length\r\n\r\n",
    "a NUL in a field" => "#{HEAD}X: a\0b\r\n\r\n",
    "CR in a field" => "#{HEAD}X: a\rContent-Length: 5\r\n\r\n",
    "a field that begins with a space" => "POST /echo HTTP/1.1\r\n Host: a\r\nContent-Length: 0\r\n\r\n",
    "LF after a chunk's size" => "#{CODED}1\na\r\n0\r\n\r\n",
    "LF after a chunk's content" => "#{CODED}1\r\na\n0\r\n\r\n",
    "LF after an extension" => "#{CODED}1;x\na\r\n0\r\n\r\n",
    "a chunk that is longer than it says" => "#{CODED}1\r\nabc\r\n0\r\n\r\n",
    "a chunk's size with a sign" => "#{CODED}+1\r\na\r\n0\r\n\r\n",
    "a chunk's size with 0x" => "#{CODED}0x1\r\na\r\n0\r\n\r\n",
    "a chunk's size beyond 64 bits" => "#{CODED}10000000000000001\r\na\r\n0\r\n\r\n",
    "a chunk without a size" => "#{CODED}\r\na\r\n0\r\n\r\n",
    "no host" => "GET / HTTP/1.1\r\n\r\n",
    "two hosts" => "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "the same host twice" => "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
    "a list of hosts" => "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n",
    "a host with a path" => "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
    "a host with a user" => "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n",
    "a target whose host is none" => "GET http://a%/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target with a user" => "GET http://a@b/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target with an empty host" => "GET http:/// HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target of another scheme" => "GET gopher://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target without a slash" => "GET a HTTP/1.1\r\nHost: a\r\n\r\n",
    "two spaces before the version" => "GET /  HTTP/1.1\r\nHost: a\r\n\r\n",
    "a space in the target" => "GET / a HTTP/1.1\r\nHost: a\r\n\r\n"
  }.freeze

  UNKNOWN_CODINGS = ["identity, chunked", "gzip, chunked"].freeze
  TARGETS = ["a target whose host is none", "a target with a user", "a target with an empty host"].freeze
  OTHER_TARGETS = ["a target of another scheme", "a target without a slash"].freeze
  SPACES = ["two spaces before the version", "a space in the target"].freeze
  # What uWebSockets.js holds back until it closes the connection, some 10 s later.
  HELD = ["a length with a vertical tab", "chunked with a vertical tab", "a space before the colon", "a space before the colon of a length",
          "a folded coding", "a folded field", "a line that is no field", "a NUL in a field", "CR in a field",
          "a field that begins with a space", "no host"].freeze
  # What it refuses itself, as it refuses another version.
  UNREADABLE = ["no coding", "a chunk without a size", *TARGETS, *OTHER_TARGETS, *SPACES].freeze
  # What it does not tell: the request is served, and the connection is closed.
  LOOSE_CHUNKS = ["LF after a chunk's size", "LF after a chunk's content", "a chunk that is longer than it says"].freeze

  # @param names [Array<String>]
  # @return [Hash{String => Object}]
  def self.all_are(names, answer)
    names.to_h { |name| [name, answer] }
  end

  # By command, what is not answered with 400: statuses, or :nothing.
  ANSWERS = {
    "up_ruby" => all_are(UNKNOWN_CODINGS, 501),
    "up_node" => all_are(UNKNOWN_CODINGS, 501).merge("two spaces before the version" => 200),
    "up" => all_are(UNKNOWN_CODINGS, 501).merge(all_are(HELD, :nothing), all_are(UNREADABLE, 505), all_are(LOOSE_CHUNKS, 200)),
    "up_bun" => all_are(SPACES, 505).merge(all_are(TARGETS, 200))
  }.freeze
end
