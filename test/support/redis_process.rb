# frozen_string_literal: true

require "fileutils"
require "socket"
require "timeout"
require "tmpdir"
require_relative "certificates"
require_relative "process_group"

# A real Redis, which keeps nothing, on a UNIX socket in a folder of its own, and with TLS on a free port of loopback if asked for.
class RedisProcess
  PROGRAM = %w[redis-server valkey-server].flat_map { |name| %W[/usr/bin/#{name} /usr/local/bin/#{name}] }.find { |path| File.executable?(path) }
  START_MAX = 60 # seconds
  STARTS_MAX = 3 # times: another program may have got the port meanwhile

  Ended = Class.new(StandardError)

  # @return [Boolean]
  def self.there?
    !PROGRAM.nil?
  end

  # @yieldparam redis [RedisProcess]
  def self.open(*options, tls: false)
    redis = new(options, tls: tls)
    yield redis
  ensure
    redis&.close
  end

  # @return [Integer]
  attr_reader :pid

  def initialize(options, tls:)
    @dir = Dir.mktmpdir("redis")
    starts = 0
    begin
      @options = [*options, *(tls_options if tls)]
      start
    rescue Ended
      (starts += 1) < STARTS_MAX ? retry : raise
    end
  end

  # @return [String] of the UNIX socket
  def url
    "unix://#{path}"
  end

  # @param authority [Certificates::Authority] that its certificate is verified with
  # @return [String] of the port with TLS
  def encrypted_url(authority = Certificates.authority)
    "rediss://localhost:#{@port}?ca_file=#{authority.path}"
  end

  def start
    @pid = ProcessGroup.spawn(PROGRAM, "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no", "--dir", @dir, *@options,
                              out: File::NULL)
    await_start
  end

  # Ends it at once, with all its connections.
  def kill
    Process.kill("KILL", pid)
    ProcessGroup.wait(pid)
    FileUtils.rm_f(path)
    @pid = nil
  end

  # Ends it as its operator does.
  def shut_down
    ask("SHUTDOWN", "NOSAVE")
    ProcessGroup.wait(pid)
    @pid = nil
  end

  # @param way [Symbol] :kill, :shut_down, or :pause
  # @param seconds [Numeric] until it is back
  def away(way, seconds)
    way == :pause ? signal("STOP") : public_send(way)
    sleep seconds
    way == :pause ? signal("CONT") : start
  end

  def signal(name)
    Process.kill(name, pid)
  end

  # @return [Array<String>] what it says
  def ask(*command)
    UNIXSocket.open(path) do |socket|
      socket.write("*#{command.size}\r\n", *command.map { |word| "$#{word.bytesize}\r\n#{word}\r\n" }, "*1\r\n$4\r\nQUIT\r\n")
      socket.read.lines(chomp: true)
    end
  end

  def close
    kill if pid
    FileUtils.rm_rf(@dir)
  end

  private

  def path
    File.join(@dir, "redis")
  end

  def tls_options
    @port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    issued = Certificates.localhost
    ["--tls-port", @port.to_s, "--bind", "127.0.0.1", "--tls-cert-file", issued.path, "--tls-key-file", issued.key_path,
     "--tls-auth-clients", "no"]
  end

  def await_start
    Timeout.timeout(START_MAX) do
      UNIXSocket.new(path).close
    rescue Errno::ECONNREFUSED, Errno::ENOENT
      raise Ended, "Redis did not start" if Process.wait(pid, Process::WNOHANG)

      sleep 0.01
      retry
    end
  end
end
