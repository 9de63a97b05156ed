# frozen_string_literal: true

require "English"
require "tmpdir"
require_relative "fuzz_corpus"

# Replays the corpus of requests, and that of paths, against the stand-alone static server under valgrind, which must find nothing:
#   ruby test/core/fuzz_corpus_replay.rb
class FuzzCorpusReplay
  SERVER = File.join(FuzzCorpus::ROOT, "build/core/plain/upwell-static")
  VALGRIND = %w[valgrind -q --error-exitcode=99 --leak-check=full].freeze
  FOLDERS = "{fuzz,build/fuzz}" # the seeds, and what fuzzing has found here
  GOOD = "GET /index.html HTTP/1.1\r\nHost: localhost\r\n\r\n"

  # @param backend [String] not io_uring, which valgrind 3.19 cannot follow
  def initialize(backend)
    @backend = backend
  end

  # @return [Integer] the inputs that were sent
  def run
    serve do
      count = requests.each { |pieces| exchange(pieces) }.size
      abort "fuzz_corpus_replay: #{@backend}: the server no longer answers as it should" unless exchange([GOOD]).start_with?("HTTP/1.1 200 ")
      count
    end
  end

  private

  # Each input in the pieces in which it is sent.
  def requests
    FuzzCorpus.whole_requests(FOLDERS) +
      FuzzCorpus.inputs("http_path", FOLDERS).map { |path| ["GET #{path} HTTP/1.1\r\nHost: localhost\r\n\r\n"] }
  end

  def exchange(pieces)
    FuzzCorpus.exchange(@port, pieces)
  end

  def serve
    Dir.mktmpdir("upwell-replay") do |folder|
      File.write(File.join(folder, "index.html"), "replayed")
      IO.popen([*VALGRIND, SERVER, "--list", "--gzip-static", "--backend", @backend, "-p", "0", folder]) do |server|
        @port = server.gets[/:(\d+)/, 1]
        count = yield
        Process.kill("TERM", server.pid)
        Process.wait(server.pid)
        abort "fuzz_corpus_replay: #{@backend}: valgrind found errors, see above" unless $CHILD_STATUS.success?
        count
      end
    end
  end
end

%w[epoll poll].each { |backend| puts "fuzz_corpus_replay(#{backend}): #{FuzzCorpusReplay.new(backend).run} inputs under valgrind: clean" }
