# frozen_string_literal: true

require "socket"
require "timeout"
require "tmpdir"
require_relative "process_group"

# A real nginx, in the foreground, that asks a server on loopback as it does by default (HTTP/1.0), and keeps its answers.
class NginxProcess
  PROGRAM = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"].find { |path| File.executable?(path) }
  START_MAX = 10 # seconds

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
    @port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    path = File.join(@dir, "nginx.conf")
    File.write(path, configuration(upstream))
    @pid = ProcessGroup.spawn(PROGRAM, "-e", log, "-p", @dir, "-c", path)
    await_start
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

  def await_start
    Timeout.timeout(START_MAX) do
      TCPSocket.new("127.0.0.1", port).close
    rescue Errno::ECONNREFUSED
      raise "nginx did not start: #{File.read(log)}" if Process.wait(@pid, Process::WNOHANG)

      sleep 0.02
      retry
    end
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
