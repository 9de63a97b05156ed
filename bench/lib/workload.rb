# frozen_string_literal: true

require_relative "load_run"
require_relative "request"

module Bench
  # What is asked of the servers: the application in apps/, the group of candidates that are compared, the wrk script when the request is
  # not a plain GET, what the answer has to be, and the numbers of connections where they are not those of the settings.
  Workload = Struct.new(:name, :title, :app_name, :group, :script, :answer, :headers_min, :connections, keyword_init: true) do
    def initialize(group: :computing, headers_min: 0, **rest)
      super
    end

    def app
      File.expand_path("../apps/#{app_name}.ru", __dir__)
    end

    # @return [Sample]
    def sample(candidate, connections, seconds)
      LoadRun.new(candidate, self, connections).sample(seconds)
    end

    def unit
      "requests"
    end

    def wrk_threads(_connections)
      1
    end

    # @return [Request]
    def request
      script ? Request.new(body: POST_BODY, script: File.expand_path("../wrk/#{script}.lua", __dir__)) : Request.new
    end

    # @param response [Net::HTTPResponse]
    # @return [String, nil] what is wrong with it
    def objection(response)
      return "status #{response.code}" unless response.code == "200"
      return "body #{response.body.inspect[0, 80]}" unless answer === response.body # rubocop:disable Style/CaseEquality

      return "Content-Length beside Transfer-Encoding" if response["content-length"] && response["transfer-encoding"]

      count = response.each_header.count
      "#{count} headers" if count < headers_min
    end
  end

  POST_BODY = "0123456789" * 1024 # as wrk/post.lua sends it

  WORKLOADS = [
    Workload.new(name: "hello", title: "Hello world", app_name: "hello", answer: "Hello, world!"),
    Workload.new(name: "threads", title: "Hello world, five threads", app_name: "hello", group: :threads, answer: "Hello, world!"),
    Workload.new(name: "sleep", title: "Each request sleeps 10 ms", app_name: "sleep", group: :waiting, answer: "slept", connections: [256]),
    Workload.new(name: "env", title: "env.to_s", app_name: "env", answer: /"REQUEST_METHOD" ?=> ?"GET"/),
    Workload.new(name: "stat", title: "Nine calls of File.file?", app_name: "stat", answer: "5"),
    Workload.new(name: "roda", title: "Roda hello", app_name: "roda", answer: "Hello, world!"),
    Workload.new(name: "post", title: "POST of 10 KB, read by the application", app_name: "post", script: "post", answer: "10240"),
    Workload.new(name: "json", title: "1 KB of JSON, ten headers", app_name: "json", answer: /\A\[\{"id":0,.{900,1100}\}\]\z/, headers_min: 10)
  ].freeze
end
