# frozen_string_literal: true

require "socket"
require "tmpdir"
require_relative "secure"

# nginx in front of a server, with kept connections to it.
class Nginx
  START_MAX = 10 # seconds

  # @yieldparam port [Integer] where nginx listens
  def self.open(backend)
    Dir.mktmpdir("upwell-nginx") do |folder|
      port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
      File.write(File.join(folder, "nginx.conf"), configuration(folder, port, backend))
      pid = Process.spawn("nginx", "-p", folder, "-c", "nginx.conf", "-e", "error.log", out: File::NULL, err: File.join(folder, "output"))
      await(port, folder)
      yield port
    ensure
      pid && Process.kill("TERM", pid) && Process.wait(pid)
    end
  end

  def self.await(port, folder)
    Timeout.timeout(START_MAX) do
      TCPSocket.open("127.0.0.1", port, &:close)
    rescue Errno::ECONNREFUSED
      sleep 0.01 # nothing tells when it listens
      retry
    end
  rescue Timeout::Error
    raise "nginx did not start: #{File.read(File.join(folder, "output"))}"
  end
  private_class_method :await

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
          listen 127.0.0.1:#{port}#{" ssl" if Secure::CHOSEN};
          #{Secure.nginx}
          location / {
            proxy_pass #{Secure.url("http", "app")};
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
