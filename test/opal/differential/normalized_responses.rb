# frozen_string_literal: true

require "zlib"
require_relative "../../support/opal_process"
require_relative "../../support/raw_client"

module Differential
  # What a command answers to the requests of an application. A difference that no application makes is taken away: how a server tells the end
  # of a body, its date, and the bytes into which a text is compressed.
  class NormalizedResponses
    FOLDER = __dir__
    OF_SERVERS = %w[date connection keep-alive server transfer-encoding uwebsockets].freeze
    # Longer ones hold random bytes, as sessions do.
    COOKIE_MAX = 60

    class << self
      # @return [String] which gems there are
      attr_accessor :gemfile
    end
    self.gemfile = File.join(FOLDER, "Gemfile")

    # @param command [String]
    # @param application [String]
    # @return [Array<Hash>, String] the answers, or the sentence with which the command did not start
    def self.of(command, application, requests)
      log = []
      OpalProcess.open(command, app: File.join(FOLDER, "apps", "#{application}.ru"), environment: environment(command)) do |server|
        log = server.lines
        new(server.port).all(requests)
      end
    rescue Minitest::Assertion, StandardError => e
      [e.message, *log].join("\n")
    end

    # Bundler tells MRI and the compiler of the same gems.
    def self.environment(command)
      gems = { "BUNDLE_GEMFILE" => gemfile, "BUNDLE_PATH" => File.join(ServerProcess::ROOT, "vendor/bundle"), "RUBYLIB" => nil }
      command.start_with?("up_ruby") ? { **gems, "RUBYOPT" => "-rbundler/setup" } : { **gems, "RUBYOPT" => nil }
    end
    private_class_method :environment

    def initialize(port)
      @port = port
      @cookies = {}
    end

    def all(requests)
      requests.map { |request| answer(request) }
    end

    private

    def answer(request)
      RawClient.open(@port) do |client|
        client.write(text(request))
        head = request.line.start_with?("HEAD ")
        response = client.response(head: head) or return { status: nil, fields: {}, body: "" }
        keep_cookies(response)
        plain(response, head)
      end
    end

    def text(request)
      fields = { "Host" => "example.org", **cookie, **request.fields }
      fields["Content-Length"] = request.content.bytesize if request.content
      "#{request.line} HTTP/1.1\r\n#{fields.map { |name, value| "#{name}: #{value}\r\n" }.join}\r\n".b + request.content.to_s.b
    end

    def cookie
      @cookies.empty? ? {} : { "Cookie" => @cookies.map { |pair| pair.join("=") }.join("; ") }
    end

    def keep_cookies(response)
      response.headers.fetch("set-cookie", []).each do |line|
        name, value = line[/\A[^;]*/].split("=", 2)
        value.to_s.empty? ? @cookies.delete(name) : @cookies[name] = value
      end
    end

    def plain(response, head)
      fields = response.headers.except(*OF_SERVERS)
      fields["set-cookie"] = fields["set-cookie"].map { |line| cookie_without_secret(line) } if fields["set-cookie"]
      body = response.body.to_s.b
      fields["content-length"] = [body.bytesize.to_s] if response.headers["transfer-encoding"] && !head
      if fields["content-encoding"] == ["gzip"] && !body.empty?
        body = Zlib.gunzip(body)
        fields.delete("content-length")
      end
      { status: response.status, fields: fields.sort.to_h, body: body }
    end

    def cookie_without_secret(line)
      line.sub(/=[^;]{#{COOKIE_MAX},}/, "=...").sub(/; expires=[^;]*/i, "; expires=...")
    end
  end
end
