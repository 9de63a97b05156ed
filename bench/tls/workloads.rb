# frozen_string_literal: true

require_relative "../lib/load_run"
require_relative "../lib/request"
require_relative "../lib/wrk"
require_relative "../static/served_files"
require_relative "candidates"
require_relative "certificates"
require_relative "handshakes"

module Bench
  module Tls
    # What is asked of the servers over TLS.
    #
    # @!attribute group [:static, :handshakes, :rack]
    # @!attribute file [Static::Size, nil] that is asked for; nil: the application's answer is
    # @!attribute certificate [Certificate]
    # @!attribute generator [#run]
    # @!attribute unit [String] of what is counted
    Workload = Struct.new(:name, :title, :group, :file, :certificate, :generator, :unit, keyword_init: true) do
      def initialize(certificate: RSA, generator: Wrk, unit: "requests", **rest)
        super
      end

      # @return [String] for servers that serve a config.ru
      def app
        File.expand_path("../apps/hello.ru", __dir__)
      end

      # @return [nil] wherever the settings say
      def connections
        nil
      end

      def wrk_threads(_connections)
        1
      end

      def request
        Request.new(path: file ? file.path : "/")
      end

      # @return [Sample]
      def sample(candidate, connections, seconds)
        LoadRun.new(Holder.new(candidate, certificate), self, connections, generator: generator, secure: true).sample(seconds)
      end

      # @param response [Net::HTTPResponse]
      # @return [String, nil] what is wrong with it
      def objection(response)
        return "status #{response.code}" unless response.code == "200"

        "another content, of #{response.body.to_s.bytesize} bytes" unless response.body.to_s.b == (file ? file.content : "Hello, world!")
      end
    end

    SMALL, LARGE = %w[1k 1m].map { |name| Static::SIZES.find { |size| size.name == name } }

    # Full ones and resumed ones.
    def self.handshakes(certificate, kind_of_key)
      common = { group: :handshakes, file: SMALL, certificate: certificate, unit: "handshakes" }
      [Workload.new(name: "full-#{certificate.name}", title: "Full handshakes, #{kind_of_key}", generator: Handshakes.new("full"), **common),
       Workload.new(name: "resumed-#{certificate.name}", title: "Resumed handshakes, #{kind_of_key}", generator: Handshakes.new("resumed"),
                    **common)]
    end

    WORKLOADS = [
      Workload.new(name: "1k", title: "1 KiB", group: :static, file: SMALL),
      Workload.new(name: "1m", title: "1 MiB", group: :static, file: LARGE),
      *handshakes(RSA, "RSA 2048"), *handshakes(ECDSA, "ECDSA P-256"),
      Workload.new(name: "hello", title: "Rack hello", group: :rack)
    ].freeze
  end
end
