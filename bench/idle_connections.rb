# frozen_string_literal: true

# What idle keep-alive connections cost: memory above the empty server, and how soon one of them is served again; with SECURE=1 those over
# TLS, beside plain ones. See README.md.

require_relative "lib/descriptor_limit"
require_relative "lib/client"
require_relative "lib/machine"
require_relative "lib/statistics"
require_relative "lib/upwell_checkout"
require_relative "tls/certificates"

module Bench
  # Connections that have been served once and then wait.
  class IdleConnections
    WARM_UP_REQUESTS = 2_000
    REQUESTS = 5_000

    # @param secure [OpenSSL::SSL::SSLContext, nil]
    def initialize(server, count, secure: nil)
      @server = server
      @count = count
      @secure = secure
    end

    # @return [Hash{String => String}]
    def measure
      warm_up
      empty = @server.usage.resident
      clients = Array.new(@count) { client.tap { |client| request(client) } }
      growth = @server.usage.resident - empty
      { "memory of the empty server" => format("%.1f MiB", empty / 1_048_576.0),
        "memory above that" => format("%.1f MiB, %.0f bytes a connection", growth / 1_048_576.0, growth.to_f / @count),
        **latencies(clients) }
    ensure
      clients&.each(&:close)
    end

    private

    def client
      Client.new(@server.port, secure: @secure)
    end

    def warm_up
      warming = client
      WARM_UP_REQUESTS.times { request(warming) }
      warming.close
    end

    def latencies(clients)
      times = Array.new(REQUESTS) { request(clients.sample) }
      { "next request, median" => milliseconds(Statistics.median(times)), "next request, p99" => milliseconds(Statistics.percentile(times, 99)) }
    end

    # @return [Float] seconds
    def request(client)
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      client.get("/")
      client.answer
      Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
    end

    def milliseconds(seconds)
      format("%.3f ms", seconds * 1000)
    end
  end
end

SPARE_DESCRIPTORS = 100
count = Integer(ENV.fetch("CONNECTIONS", "10000"), 10)
Bench::DescriptorLimit.allow(count, SPARE_DESCRIPTORS)

upwell = Bench::UpwellCheckout.new
backend = ENV.fetch("BACKEND") { upwell.backends.first }
mode = ENV.fetch("MODE", "inline")
options = ["--backend", backend, "--mode", mode, "--connections-max", (count + SPARE_DESCRIPTORS).to_s, "--keep-alive-timeout", "600"]
kinds = { "plain" => [] }
if ENV["SECURE"] == "1"
  certificate = Bench::Tls::RSA.tap(&:make)
  kinds["TLS"] = ["--secure", "--cert-file", certificate.path, "--key-file", certificate.key_path]
end
kinds.each do |kind, more|
  secure = OpenSSL::SSL::SSLContext.new if kind == "TLS"
  upwell.serve("hello", *options, *more, secure: !secure.nil?) do |server|
    puts "#{count} idle connections, #{kind}, #{backend}, #{mode}, #{Bench::Machine.description.fetch("Ruby")}"
    Bench::IdleConnections.new(server, count, secure: secure).measure.each { |name, value| puts "  #{name}: #{value}" }
  end
end
