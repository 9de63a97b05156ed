# frozen_string_literal: true

require "net/http"
require_relative "tls_option"

# Clients that ask at the same time, each on a kept connection, each with a marker that is nobody else's.
class ConcurrentClients
  CLIENTS = 10
  READ_MAX = 60 # seconds

  # Has all of them call the block again and again.
  #
  # @yieldparam client [Client]
  # @yieldparam marker [String] another one each time
  # @return [Integer] how often it was called
  def self.run(port, seconds, clients: CLIENTS)
    deadline = now + seconds
    threads = Array.new(clients) do |number|
      Thread.new do
        Thread.current.report_on_exception = false
        Client.open(port) { |client| (1..).find { |i| yield(client, "c#{number}-#{i}"); now > deadline } }
      end
    end
    threads.sum(&:value)
  end

  def self.now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
  private_class_method :now

  # One client with its connection and its cookies.
  class Client
    def self.open(port)
      Net::HTTP.start("127.0.0.1", port, read_timeout: READ_MAX, max_retries: 0, **TLSOption.client) { |http| yield new(http) }
    end

    def initialize(http)
      @http = http
    end

    # @return [String] the body of a response whose status is 200
    def get(path)
      checked(request(Net::HTTP::Get.new(path)))
    end

    # @param fields [Hash{String => Object}] of a form; with an array of a file name and contents: of a form with files
    def post(path, fields)
      request = Net::HTTP::Post.new(path)
      files, others = fields.partition { |_, value| value.is_a?(Array) }
      form = others + files.map { |name, (filename, content)| [name, content, { filename: filename }] }
      request.set_form(form, files.empty? ? "application/x-www-form-urlencoded" : "multipart/form-data")
      request(request)
    end

    # @return [Net::HTTPResponse]
    def request(request)
      request["cookie"] = @cookie if @cookie
      response = @http.request(request)
      @cookie = response["set-cookie"][/\A[^;]+/] if response["set-cookie"]
      response
    end

    # @return [String] its body
    def checked(response)
      response.code == "200" ? response.body : raise("#{response.code} #{response.body.to_s[0, 2_000]}")
    end
  end
end
