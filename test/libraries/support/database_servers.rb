# frozen_string_literal: true

require "etc"
require "fileutils"
require "open3"
require "socket"
require "timeout"
require_relative "../../support/process_group"

# Debian's servers of databases, each new, in a folder of its own and on a free port of the loopback.
class DatabaseServers
  START_MAX = 60 # seconds
  STOP_MAX = 60
  PORTS = 12_000..32_000 # below /proc/sys/net/ipv4/ip_local_port_range
  POSTGRES = "/usr/lib/postgresql/*/bin"

  def initialize(folder)
    @folder = folder
    @pids = []
  end

  # @return [Integer] the port
  def postgres
    programs = Dir[POSTGRES].max || raise("there is no PostgreSQL in #{POSTGRES}")
    folder = make("postgres")
    user = unprivileged(folder)
    run(*user, "#{programs}/initdb", "-D", "#{folder}/data", "-A", "trust", "-U", "root", "--no-sync")
    start("postgres") do |port|
      [*user, "#{programs}/postgres", "-D", "#{folder}/data", "-k", folder, "-p", port.to_s, "-c", "listen_addresses=127.0.0.1", "-F"]
    end
  end

  # @return [Integer] the port
  def mariadb
    folder = make("mariadb")
    user = "--user=#{Etc.getpwuid.name}"
    run("mariadb-install-db", "--no-defaults", "--datadir=#{folder}/data", "--auth-root-authentication-method=normal", "--skip-test-db", user)
    start("mariadb") do |port|
      ["mariadbd", "--no-defaults", user, "--datadir=#{folder}/data", "--socket=#{folder}/socket", "--pid-file=#{folder}/pid",
       "--port=#{port}", "--bind-address=127.0.0.1", "--skip-name-resolve"]
    end
  end

  # @return [Integer] the port
  def redis
    folder = make("redis")
    start("redis") { |port| ["redis-server", "--port", port.to_s, "--bind", "127.0.0.1", "--dir", folder, "--save", ""] }
  end

  # Ends all of them; whoever does not end is killed with this process.
  def stop
    @pids.each { |pid| Process.kill("TERM", pid) }
    Timeout.timeout(STOP_MAX) { @pids.each { |pid| ProcessGroup.wait(pid) } }
  end

  private

  def make(name)
    File.join(@folder, name).tap { |folder| Dir.mkdir(folder) }
  end

  # PostgreSQL is not to be run by root.
  def unprivileged(folder)
    return [] unless Process.uid.zero?

    File.chmod(0o711, @folder)
    FileUtils.chown("postgres", "postgres", folder)
    %w[setpriv --reuid=postgres --regid=postgres --clear-groups]
  end

  def run(*command)
    output, status = Open3.capture2e(*command, chdir: "/")
    raise "#{command.join(" ")}: #{output}" unless status.success?
  end

  def start(name)
    port = free_port
    log = File.join(@folder, "#{name}.log")
    pid = ProcessGroup.spawn(*yield(port), chdir: "/", out: log, err: log)
    @pids << pid
    await(port, now + START_MAX) || raise("#{name} did not start: #{File.read(log)}")
    port
  end

  # None that the kernel may give to somebody else until the server has started.
  def free_port
    TCPServer.open("127.0.0.1", rand(PORTS)) { |server| server.addr[1] }
  rescue Errno::EADDRINUSE
    retry
  end

  def await(port, deadline)
    TCPSocket.open("127.0.0.1", port, &:close)
    true
  rescue Errno::ECONNREFUSED
    sleep 0.02 # nothing tells when it listens
    now < deadline && retry
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
