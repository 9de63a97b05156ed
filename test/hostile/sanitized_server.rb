# frozen_string_literal: true

require "socket"
require "tempfile"
require_relative "plain_or_tls_socket"
require_relative "../support/sanitizers"

# The real command with the extension that the sanitizers watch, which is to survive: it goes on answering, opens no more and more descriptors,
# ends when it is told to, and no sanitizer complains.
class SanitizedServer
  ROOT = File.expand_path("../..", __dir__)
  START_MAX = 60 # seconds
  ANSWER_MAX = 30
  STOP_MAX = 60
  SETTLE_MAX = 60
  DESCRIPTORS_MORE_MAX = 5

  # What went wrong.
  class Failure < StandardError; end

  attr_reader :port

  def initialize(mode, backend)
    @log = Tempfile.new("upwell-hostile")
    command = [RbConfig.ruby, "-I#{Sanitizers::BUILT}", "-I#{ROOT}/lib", "#{ROOT}/exe/upwell", *PlainOrTLSSocket::OPTIONS]
    @pid = Process.spawn({ **Sanitizers::ENVIRONMENT, **PlainOrTLSSocket::ENVIRONMENT }, *command, "-b", "127.0.0.1", "-p", "0", "--mode", mode,
                         "--backend", backend, "#{__dir__}/app.ru", out: @log.path, err: %i[child out])
    @port = await_port
    10.times { probe }
    @descriptors = descriptors
  end

  # A client that behaves is answered in time.
  def probe(path = "/probe")
    socket = PlainOrTLSSocket.open(@port, ANSWER_MAX)
    socket.write("GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    answer = +""
    deadline = now + ANSWER_MAX
    while (left = deadline - now).positive? && PlainOrTLSSocket.readable?(socket, left)
      piece = socket.read_nonblock(4096, exception: false) or break
      answer << piece unless piece == :wait_readable
    end
    raise Failure, "#{path} was answered with #{answer.inspect} in #{ANSWER_MAX} s" unless answer.start_with?("HTTP/1.1 200")
  rescue SystemCallError, OpenSSL::SSL::SSLError => e
    raise Failure, "#{path} failed: #{e.message}"
  ensure
    socket&.close
  end

  # Raises unless everything that the clients began has ended, and the process too.
  def end_well
    settle
    Process.kill("TERM", @pid)
    status = await { Process.wait2(@pid, Process::WNOHANG)&.last }
    raise Failure, "it did not end within #{STOP_MAX} s of TERM" unless status
    raise Failure, "it ended with #{status}" unless status.success?

    @pid = nil
    complain
  end

  # Raises what a sanitizer has said.
  def complain
    text = File.read(@log.path, encoding: "BINARY").scrub
    at = text =~ Sanitizers::COMPLAINTS
    raise Failure, "it said\n#{text[at, 6000]}" if at
  end

  def kill
    @pid && Process.kill("KILL", @pid) && Process.wait(@pid)
    @log.close!
  rescue Errno::ESRCH, Errno::ECHILD
    nil
  end

  private

  def await_port
    await(START_MAX) do
      raise Failure, "it did not start:\n#{File.read(@log.path)}" if Process.wait(@pid, Process::WNOHANG)

      File.read(@log.path)[/serves on https?:\S+:(\d+)/, 1]&.to_i
    end
  end

  # A hijacked socket that the application has forgotten is the collector's.
  def settle
    await(SETTLE_MAX) do
      probe("/collect")
      descriptors <= @descriptors + DESCRIPTORS_MORE_MAX
    end or raise Failure, "#{descriptors} descriptors are open, at first #{@descriptors}: #{open_files}"
  end

  def descriptors = Dir["/proc/#{@pid}/fd/*"].size

  def open_files = Dir["/proc/#{@pid}/fd/*"].map { |path| link(path) }.tally

  def link(path)
    File.readlink(path).sub(/\d+/, "")
  rescue Errno::ENOENT
    "gone"
  end

  def await(seconds = STOP_MAX)
    deadline = now + seconds
    loop do
      result = yield
      return result if result || now > deadline

      sleep(0.05)
    end
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
