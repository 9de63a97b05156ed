# frozen_string_literal: true

require "zlib"
require_relative "../test_helper"

# Clients that send far ahead of their answers, more of them at once than the loop has memory to receive into.
class PipeliningTest < Minitest::Test
  CLIENTS = 12
  REQUESTS = 50
  BODY_BYTES = 60_000

  def body(client, number)
    "#{client} #{number} ".ljust(BODY_BYTES, "0123456789abcdef")
  end

  def requests(client)
    Array.new(REQUESTS) do |number|
      "POST /#{client}/#{number} HTTP/1.1\r\nHost: a\r\nContent-Length: #{BODY_BYTES}\r\n\r\n#{body(client, number)}"
    end.join
  end

  def expected(client)
    Array.new(REQUESTS) { |number| "/#{client}/#{number} #{BODY_BYTES} #{Zlib.crc32(body(client, number))}" }
  end

  # @return [Array<String>] the answers to one client
  def flood(port, text)
    RawClient.open(port) do |client|
      writer = Thread.new { client.write(text) }
      Array.new(REQUESTS) { client.response.body }.tap { writer.join }
    end
  end

  def test_every_request_sent_ahead_is_answered_in_its_turn
    texts = Array.new(CLIENTS) { |client| requests(client) }
    each_backend_and_mode do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode, app: "upload_checksums.ru") do |server|
        threads = texts.map { |text| Thread.new { flood(server.port, text) } }
        threads.each_with_index { |thread, client| assert_equal expected(client), thread.value }
      end
    end
  end
end
