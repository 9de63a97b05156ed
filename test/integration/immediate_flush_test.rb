# frozen_string_literal: true

require_relative "../test_helper"

# What is asked for by name is with the client before the application goes on, which may compute for long.
class ImmediateFlushTest < Minitest::Test
  PATIENCE = 30 # seconds, less than the application computes in vain

  def ask(path)
    each_backend_and_mode(%w[inline fibers threads:1]) do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode, app: "immediate_flush.ru") do |server|
        Dir.mktmpdir do |folder|
          RawClient.open(server.port) do |client|
            client.write("GET #{path}?#{folder} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            yield client, folder
          end
        end
      end
    end
  end

  def await(client, text, folder, name)
    Timeout.timeout(PATIENCE) { nil until client.socket.gets.include?(text) }
    File.write("#{folder}/#{name}", "")
  end

  def test_early_hints
    ask("/hints") do |client, folder|
      await(client, "link: two", folder, "two")
      assert_match(/three\z/, client.read_all)
    end
  end

  def test_what_a_stream_flushes
    ask("/stream") do |client, folder|
      await(client, "chunked", folder, "head")
      await(client, "two", folder, "two")
      assert_match(/three\r\n0\r\n\r\n\z/, client.read_all)
    end
  end
end
