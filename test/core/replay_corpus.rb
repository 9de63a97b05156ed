# frozen_string_literal: true

require "English"
require "io/wait"
require "socket"
require "tmpdir"

# Replays the corpus of requests, and that of paths, against the stand-alone static server under valgrind, which must find nothing:
#   ruby test/core/replay_corpus.rb
class CorpusReplay
  ROOT = File.expand_path("../..", __dir__)
  SERVER = File.join(ROOT, "build/core/plain/upwell-static")
  VALGRIND = %w[valgrind -q --error-exitcode=99 --leak-check=full].freeze
  PATIENCE = 60 # seconds for any answer
  GOOD = "GET /index.html HTTP/1.1\r\nHost: localhost\r\n\r\n"

  # @param backend [String] not io_uring, which valgrind 3.19 cannot follow
  def initialize(backend)
    @backend = backend
  end

  # @return [Integer] the inputs that were sent
  def run
    serve do
      count = requests.each { |pieces| exchange(pieces) }.size
      abort "replay_corpus: #{@backend}: the server no longer answers as it should" unless exchange([GOOD]).start_with?("HTTP/1.1 200 ")
      count
    end
  end

  private

  # Each input in the pieces in which it is sent.
  def requests
    whole_requests = inputs("http_parser").map { |input| cut(input.byteslice(1..).to_s, input.getbyte(0).to_i) }
    whole_requests + inputs("http_path").map { |path| ["GET #{path} HTTP/1.1\r\nHost: localhost\r\n\r\n"] }
  end

  # The seeds, and what fuzzing has found here.
  def inputs(target)
    files = Dir[File.join(ROOT, "{fuzz,build/fuzz}/corpus", target, "*")]
    abort "replay_corpus: there is no corpus of #{target}" if files.empty?
    files.map { |file| File.binread(file) }
  end

  # As the fuzz target cuts it: by the first byte.
  def cut(text, first)
    at = first % (text.bytesize + 1)
    [text.byteslice(0, at), text.byteslice(at..)]
  end

  # @return [String] what the server sent until it closed
  def exchange(pieces)
    Socket.tcp("127.0.0.1", @port, connect_timeout: PATIENCE) do |socket|
      socket.setsockopt(:TCP, :NODELAY, true)
      pieces.each { |piece| socket.write(piece) }
      socket.close_write
      answer(socket)
    rescue Errno::EPIPE, Errno::ECONNRESET
      "" # refused before all had been sent
    end
  end

  def answer(socket)
    text = +""
    loop do
      abort "replay_corpus: #{@backend}: no answer in #{PATIENCE} s" unless socket.wait_readable(PATIENCE)
      text << socket.readpartial(65_536)
    end
  rescue EOFError
    text
  end

  def serve
    Dir.mktmpdir("upwell-replay") do |folder|
      File.write(File.join(folder, "index.html"), "replayed")
      IO.popen([*VALGRIND, SERVER, "--list", "--gzip-static", "--backend", @backend, "-p", "0", folder]) do |server|
        @port = server.gets[/:(\d+)/, 1]
        count = yield
        Process.kill("TERM", server.pid)
        Process.wait(server.pid)
        abort "replay_corpus: #{@backend}: valgrind found errors, see above" unless $CHILD_STATUS.success?
        count
      end
    end
  end
end

%w[epoll poll].each { |backend| puts "replay_corpus(#{backend}): #{CorpusReplay.new(backend).run} inputs under valgrind: clean" }
