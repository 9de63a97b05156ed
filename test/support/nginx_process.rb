# frozen_string_literal: true

require "socket"
require "timeout"
require "tmpdir"
require_relative "process_group"

# A real nginx, in the foreground, that asks a server on loopback as it does by default (HTTP/1.0), and keeps its answers.
class NginxProcess
  PROGRAM = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"].find { |path| File.executable?(path) }
  START_MAX = 60 # seconds
  STARTS_MAX = 3 # times: another program may have got the port meanwhile

  # @return [Boolean]
  def self.there?
    !PROGRAM.nil?
  end

  # @param upstream [Integer] port
  # @yieldparam nginx [NginxProcess]
  def self.open(upstream)
    nginx = new(upstream)
    yield nginx
  ensure
    nginx&.close
  end

  # @return [Integer]
  attr_reader :port

  def initialize(upstream)
    @dir = Dir.mktmpdir
    STARTS_MAX.times.any? { start(upstream) } || raise("nginx did not start: #{File.read(log)}")
  end

  def close
    Process.kill("TERM", @pid)
    ProcessGroup.wait(@pid)
    FileUtils.rm_rf(@dir)
  end

  private

  def log
    File.join(@dir, "error.log")
  end

  # @return [Boolean] false when it has ended
  def start(upstream)
    @port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    path = File.join(@dir, "nginx.conf")
    File.write(path, configuration(upstream))
    @pid = ProcessGroup.spawn(PROGRAM, "-e", log, "-p", @dir, "-c", path)
    ended = nil
    Timeout.timeout(START_MAX) { sleep 0.02 until listens? || (ended = Process.wait(@pid, Process::WNOHANG)) }
    !ended
  end

  # It writes the file when it does.
  def listens?
    File.exist?(File.join(@dir, "nginx.pid"))
  end

  def configuration(upstream)
    <<~CONFIGURATION
      daemon off;
      master_process off;
      pid #{@dir}/nginx.pid;
      events {}
      http {
        access_log off;
        proxy_cache_path #{@dir}/cache keys_zone=answers:1m;
        #{%w[client_body proxy fastcgi uwsgi scgi].map { |name| "#{name}_temp_path #{@dir}/#{name};" }.join("\n  ")}
        server {
          listen 127.0.0.1:#{port};
          location / {
            proxy_pass http://127.0.0.1:#{upstream};
            proxy_cache answers;
            proxy_cache_valid 200 1m;
            add_header X-Cache $upstream_cache_status;
          }
        }
      }
    CONFIGURATION
  end
end
