# frozen_string_literal: true

require "open3"
require "tmpdir"
require_relative "../core/fuzz_corpus"

# The stand-alone static server under Wine, beside the same server on Linux. REQUESTS=100000 has more asked for by ab, where it is installed.
#   rake test:iocp
class StaticServerUnderWine
  LINUX = [File.join(FuzzCorpus::ROOT, "build/core/plain/upwell-static")].freeze
  WINE = ["wine", File.join(FuzzCorpus::ROOT, "build/core/windows-plain/upwell-static.exe")].freeze
  REPLACEMENTS = 200
  CLIENTS = 4
  CONNECTIONS = 1000

  def run
    Dir.mktmpdir("upwell-windows") do |folder|
      @folder = folder
      write_files
      serve(WINE) do |wine|
        serve(LINUX) { |linux| compare(wine, linux) }
        replace_files(wine)
        load(wine)
      end
      serve([*WINE, "--threads", "2"]) { |wine| ask_all_threads(wine) }
    end
  end

  private

  def write_files
    write("index.html", "replayed")
    write("large.bin", Random.new(1).bytes(3_000_000))
    Dir.mkdir(File.join(@folder, "folder"))
    write("folder/a b.txt", "a name with a space")
    write("folder/größe.txt", "a name beyond ASCII")
  end

  # In the place of what has the name: a reader has the one or the other.
  def write(name, content)
    path = File.join(@folder, name)
    File.binwrite("#{path}.new", content)
    File.rename("#{path}.new", path)
  end

  # @yield [Integer] the port
  def serve(command)
    server = IO.popen([*command, "--list", "-p", "0", @folder])
    yield server.gets[/:(\d+)/, 1].to_i
    # Wine has another process run the program than the one that was started, under the same number.
    status = stop(server, "INT")
    abort "static server under Wine: #{command.last} ended with #{status.inspect}" unless status&.success?
  ensure
    stop(server, "KILL") if server
  end

  # Without end nobody waits. Returns the status, or nil: it goes on, or has ended before.
  def stop(server, signal)
    return if server.closed?

    Process.kill(signal, server.pid)
    return unless (waiting = Process.detach(server.pid)).join(FuzzCorpus::PATIENCE)

    server.close
    waiting.value
  end

  def compare(wine, linux)
    count = requests.each { |pieces| compare_answers(pieces, FuzzCorpus.exchange(wine, pieces), FuzzCorpus.exchange(linux, pieces)) }.size
    puts "static server under Wine: #{count} requests answered as on Linux"
  end

  def compare_answers(pieces, wine, linux)
    return if comparable(wine) == comparable(linux)

    abort "static server under Wine: #{pieces.join.inspect[0, 500]} is answered\n#{wine[0, 500].inspect} and on Linux\n#{linux[0, 500].inspect}"
  end

  # Weak entity tags are made of what the system tells of a file.
  def comparable(answer)
    answer.b.gsub(/^Date: .*\r\n/n, "").gsub(%r{^ETag: W/"\h+-\h+"\r\n}n, "ETag: weak\r\n")
  end

  def requests
    FuzzCorpus.whole_requests + FuzzCorpus.inputs("http_path").map { |path| [get(path)] } + own_requests
  end

  def own_requests
    [get("/"), get("/folder"), get("/folder/"), get("/folder/a%20b.txt"), get("/folder/gr%C3%B6%C3%9Fe.txt"), get("/large.bin"), get("/nothing"),
     get("/large.bin", "Range: bytes=5-9\r\n"), get("/index.html", "Range: bytes=-3\r\n"), get("/index.html%3A%3A$DATA"),
     get("/folder%5Ca%20b.txt"), get("/CON"), get("/index.html."), get("/index.html%20"), get("/../index.html")].map { |request| [request] }
  end

  def get(path, fields = "")
    "GET #{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n#{fields}\r\n".b
  end

  # Each client sees whole files alone, and the last one in the end.
  def replace_files(port)
    stopped = false
    counts = Array.new(CLIENTS) { Thread.new { count_whole_answers(port) { stopped } } }
    REPLACEMENTS.times { |number| write("replaced.txt", content(number)) && FuzzCorpus.exchange(port, [get("/replaced.txt")]) }
    stopped = true
    count = counts.sum(&:value)
    await_content(port, content(REPLACEMENTS - 1))
    puts "static server under Wine: a file replaced #{REPLACEMENTS} times, and #{count} whole answers meanwhile"
  end

  def content(number)
    "#{number} " * 5000
  end

  def count_whole_answers(port)
    count = 0
    until yield
      head, body = FuzzCorpus.exchange(port, [get("/replaced.txt")]).split("\r\n\r\n", 2)
      next if head.start_with?("HTTP/1.1 404") && count.zero? # not yet there

      abort "static server under Wine: #{head} with a body that was never written" unless body == content(body.to_i)
      count += 1
    end
    count
  end

  # What is served may be some moments old.
  def await_content(port, content)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + FuzzCorpus::PATIENCE
    until FuzzCorpus.exchange(port, [get("/replaced.txt")]).end_with?("\r\n\r\n#{content}")
      abort "static server under Wine: the last content is not served" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
      sleep 0.1
    end
  end

  # They have one socket, which the first to stop closes.
  def ask_all_threads(port)
    answers = Array.new(CLIENTS) { Thread.new { Array.new(10) { FuzzCorpus.exchange(port, [get("/index.html")]) } } }.flat_map(&:value)
    abort "static server under Wine: two threads answer #{answers.uniq.inspect[0, 500]}" unless answers.all? { _1.end_with?("\r\n\r\nreplayed") }
    puts "static server under Wine: #{answers.size} requests answered by two threads"
  end

  def load(port)
    requests = Integer(ENV.fetch("REQUESTS", "20000"))
    report, status = Open3.capture2e("ab", "-q", "-n", requests.to_s, "-c", CONNECTIONS.to_s, "-k", "http://127.0.0.1:#{port}/index.html")
    right = [/^Failed requests:\s+0$/, /^Complete requests:\s+#{requests}$/].all? { |line| report.match?(line) }
    abort "static server under Wine: #{report}" if !right || !status.success? || report.include?("Non-2xx")
    puts "static server under Wine: ab -n #{requests} -c #{CONNECTIONS} -k: 0 failed, #{report[/[\d.]+(?= \[#)/]} a second"
  rescue Errno::ENOENT
    puts "static server under Wine: ab (Debian: apache2-utils) is not installed: not tried under load"
  end
end

StaticServerUnderWine.new.run
