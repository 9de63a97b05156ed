# frozen_string_literal: true

require "socket"
require "tmpdir"
require_relative "tls_option"

# nginx in front of a server, with kept connections to it.
class NginxProxy
  START_MAX = 60 # seconds
  STARTS_MAX = 3 # times: another program may have got the port meanwhile

  # @yieldparam port [Integer] where nginx listens
  def self.open(backend)
    Dir.mktmpdir("upwell-nginx") do |folder|
      pid, port = start(folder, backend)
      yield port
    ensure
      pid && Process.kill("TERM", pid) && Process.wait(pid)
    end
  end

  # @return [Array(Integer, Integer)] the process, and where it listens
  def self.start(folder, backend)
    output = File.join(folder, "output")
    STARTS_MAX.times do
      port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
      File.write(File.join(folder, "nginx.conf"), configuration(folder, port, backend))
      pid = Process.spawn("nginx", "-p", folder, "-c", "nginx.conf", "-e", "error.log", out: File::NULL, err: output)
      return pid, port if listens?(pid, folder)
    end
    raise "nginx did not start: #{File.read(output)}"
  end
  private_class_method :start

  # Waits until it does, and has written its file, or has ended.
  def self.listens?(pid, folder)
    path = File.join(folder, "nginx.pid")
    ended = nil
    Timeout.timeout(START_MAX) { sleep 0.01 until File.exist?(path) || (ended = Process.wait(pid, Process::WNOHANG)) }
    !ended
  rescue Timeout::Error
    Process.kill("KILL", pid)
    Process.wait(pid)
    false
  end
  private_class_method :listens?

  def self.configuration(folder, port, backend)
    paths = %w[client_body proxy fastcgi uwsgi scgi].map { |name| "#{name}_temp_path #{folder}/#{name};" }.join(" ")
    <<~CONFIGURATION
      daemon off;
      worker_processes 1;
      pid nginx.pid;
      events {}
      http {
        access_log off;
        client_max_body_size 0;
        #{paths}
        upstream app { server 127.0.0.1:#{backend}; keepalive 32; }
        server {
          listen 127.0.0.1:#{port}#{" ssl" if TLSOption::CHOSEN};
          #{TLSOption.nginx}
          location / {
            proxy_pass #{TLSOption.url("http", "app")};
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;
          }
        }
      }
    CONFIGURATION
  end
  private_class_method :configuration
end
