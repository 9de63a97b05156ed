# frozen_string_literal: true

require "time"
require_relative "../lib/ab"
require_relative "../lib/load_run"
require_relative "../lib/request"
require_relative "served_files"

module Bench
  module Static
    # A file that is asked for again and again.
    #
    # @!attribute file [Size]
    # @!attribute headers [Hash{String => String}] of each request
    # @!attribute status [String] that the answer has to have
    # @!attribute range [Range] of the file's bytes that it has to hold
    # @!attribute connections [Array<Integer>, nil] where they are not those of the settings
    # @!attribute generator [#run]
    Workload = Struct.new(:name, :title, :file, :headers, :status, :range, :connections, :generator, keyword_init: true) do
      def initialize(headers: {}, status: "200", range: 0.., generator: Wrk, **rest)
        super
      end

      def group
        :static
      end

      # @return [String] for servers that are told by a config.ru what to serve
      def app
        File.join(__dir__, "files.ru")
      end

      def unit
        "requests"
      end

      def wrk_threads(_connections)
        1
      end

      def request
        Request.new(path: file.path, headers: headers)
      end

      # ab finds the server as it started, so that the pages of a thousand new connections count.
      #
      # @return [Sample]
      def sample(candidate, connections, seconds)
        LoadRun.new(candidate, self, connections, generator: generator, warm_up: generator == Wrk).sample(seconds)
      end

      # @param response [Net::HTTPResponse]
      # @return [String, nil] what is wrong with it
      def objection(response)
        return "status #{response.code}" unless response.code == status

        "another content, of #{response.body.to_s.bytesize} bytes" unless response.body.to_s.b == expected
      end

      private

      def expected
        status == "304" ? "" : file.content[range]
      end
    end

    CLOSE = { "Connection" => "close" }.freeze
    UNMODIFIED = { "If-Modified-Since" => ServedFiles::MODIFIED.httpdate }.freeze
    PART = { "Range" => "bytes=1000-1999" }.freeze
    LARGE_CONNECTIONS = [64].freeze # with a thousand, a single answer would take longer than a measurement

    # Each of the sizes, with kept connections and without.
    def self.whole_files
      SIZES.flat_map do |size|
        connections = LARGE_CONNECTIONS if size == SIZES.last
        common = { file: size, connections: connections }
        [Workload.new(name: size.name, title: size.title, **common),
         Workload.new(name: "#{size.name}-close", title: "#{size.title}, a connection each", headers: CLOSE, **common)]
      end
    end

    WORKLOADS = [
      *whole_files,
      Workload.new(name: "304", title: "Not modified", file: SIZES[0], headers: UNMODIFIED, status: "304"),
      Workload.new(name: "range", title: "1,000 bytes of 100 KiB", file: SIZES[2], headers: PART, status: "206", range: 1000..1999),
      Workload.new(name: "ab", title: "ab -n #{Ab::REQUESTS} -k, 1 KiB", file: SIZES[0], connections: [1000], generator: Ab)
    ].freeze
  end
end
