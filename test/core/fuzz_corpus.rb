# frozen_string_literal: true

require "io/wait"
require "socket"

# The fuzzers' inputs as clients send them to a server on this machine.
module FuzzCorpus
  ROOT = File.expand_path("../..", __dir__)
  PATIENCE = 60 # seconds for any answer

  module_function

  # @param target [String] of fuzz/
  # @param folders [String] where its inputs are, as Dir knows patterns
  # @return [Array<String>]
  def inputs(target, folders = "fuzz")
    files = Dir[File.join(ROOT, folders, "corpus", target, "*")]
    abort "#{$PROGRAM_NAME}: there is no corpus of #{target}" if files.empty?
    files.map { |file| File.binread(file) }
  end

  # @param folders [String] see {.inputs}
  # @return [Array<Array<String>>] whole requests, each in the pieces in which it is sent: as the fuzz target cuts it, by the first byte
  def whole_requests(folders = "fuzz")
    inputs("http_parser", folders).map { |input| cut(input.byteslice(1..).to_s, input.getbyte(0).to_i) }
  end

  def cut(text, first)
    at = first % (text.bytesize + 1)
    [text.byteslice(0, at), text.byteslice(at..)]
  end

  # @return [String] what the server sent until it closed
  def exchange(port, pieces)
    Socket.tcp("127.0.0.1", port, connect_timeout: PATIENCE) do |socket|
      socket.setsockopt(:TCP, :NODELAY, true)
      pieces.each { |piece| socket.write(piece) }
      socket.close_write
      answer(socket)
    rescue Errno::EPIPE, Errno::ECONNRESET
      "" # refused before all had been sent
    end
  end

  def answer(socket)
    text = "".b
    loop do
      abort "#{$PROGRAM_NAME}: no answer in #{PATIENCE} s" unless socket.wait_readable(PATIENCE)
      text << socket.readpartial(65_536)
    end
  rescue EOFError
    text
  end
end
