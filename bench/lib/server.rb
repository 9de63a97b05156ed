# frozen_string_literal: true

require "fileutils"
require "net/http"
require "openssl"
require "socket"
require "tmpdir"
require_relative "log_error_line"
require_relative "process_usage"
require_relative "request"

module Bench
  # A server at work: a process group pinned to one core, serving one application on a free loopback port from a folder of its own.
  class Server
    Error = Class.new(StandardError)
    NoAnswer = Class.new(Error)

    CORE = 0
    START_MAX = 60 # seconds: some compile the application first
    STOP_MAX = 3
    PORTS = (20_000..30_000)
    ENVIRONMENT = { "RACK_ENV" => "production", "RUBY_YJIT_ENABLE" => "1" }.freeze

    attr_reader :pid, :port

    # Starts a server, yields it when it answers, and ends it.
    #
    # @param arguments [#call] makes the command of a port
    # @param app [String, nil] path of what a Rack server serves
    # @param secure [Boolean] whether it is asked by TLS, with any certificate
    def self.open(arguments, installation:, app: nil, secure: false)
      Dir.mktmpdir("upwell-bench") do |folder|
        FileUtils.cp(app, File.join(folder, "config.ru")) if app
        server = new(arguments, installation, folder, secure: secure)
        begin
          server.await_answer
          yield server
        ensure
          server.stop
        end
      end
    end

    def initialize(arguments, installation, folder, secure: false)
      @secure = secure
      @port = free_port
      @log = File.join(folder, "output.log")
      @pid = Process.spawn({ **installation.environment, **ENVIRONMENT }, "taskset", "-c", CORE.to_s, *arguments.call(@port),
                           chdir: folder, out: @log, err: %i[child out], in: File::NULL, pgroup: true)
    end

    def url(path = "/")
      "#{@secure ? "https" : "http"}://127.0.0.1:#{port}#{path}"
    end

    # @param request [Request]
    # @return [Net::HTTPResponse]
    # @raise [NoAnswer] whatever else comes of it
    def request(request = Request.new)
      Net::HTTP.start("127.0.0.1", port, **options) do |http|
        next http.get(request.path, request.headers) unless request.body

        http.post(request.path, request.body, "content-type" => "application/octet-stream", **request.headers)
      end
    rescue SystemCallError, IOError, Timeout::Error, Net::HTTPBadResponse, OpenSSL::SSL::SSLError => e
      raise NoAnswer, "does not answer: #{e.message}"
    end

    # @raise [Error] when it ended
    def assert_alive
      raise Error, "ended under load: #{last_words}" if ended?
    end

    # @return [Array<Integer>] of all its processes
    def pids
      ProcessUsage.pids_of_tree(pid)
    end

    def usage
      ProcessUsage.of_tree(pid)
    end

    def await_answer
      deadline = now + START_MAX
      begin
        raise Error, "does not start: #{last_words}" if ended?

        request
      rescue NoAnswer
        raise NoAnswer, "does not answer in #{START_MAX} s: #{last_words}" if now > deadline

        sleep 0.05 # nothing to wait on: servers tell in ways of their own that they listen
        retry
      end
    end

    # Some servers outlive their first SIGTERM; the group is killed, so that no worker stays behind.
    def stop
      Process.kill("TERM", pid) unless ended?
      deadline = now + STOP_MAX
      sleep 0.02 until ended? || now > deadline
      Process.kill("KILL", -pid)
    rescue Errno::ESRCH
      nil
    ensure
      ended? || Process.wait(pid)
    end

    private

    def options
      { open_timeout: 2, read_timeout: 2, use_ssl: @secure, verify_mode: OpenSSL::SSL::VERIFY_NONE }
    end

    def ended?
      @ended ||= !Process.wait2(pid, Process::WNOHANG).nil?
    end

    def last_words
      LogErrorLine.of(@log)
    end

    # Below the ports that the kernel gives to clients, and with the next one free too, which up_ruby takes for its worker.
    def free_port
      PORTS.to_a.shuffle.find { |port| [port, port + 1].all? { |candidate| free?(candidate) } }
    end

    def free?(port)
      TCPServer.open("127.0.0.1", port) { true }
    rescue Errno::EADDRINUSE
      false
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
