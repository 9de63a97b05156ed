# frozen_string_literal: true

require_relative "../test_helper"

# A request that writes to the stream of another one, whose client does not keep up: publish and subscribe.
class WriteToOthersStreamTest < Minitest::Test
  BYTES = 20_000_000 # WriteToOthersStream::PIECE, WriteToOthersStream::PIECES

  def serve(path, modes)
    each_backend_and_mode(modes) do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode, app: "write_to_others_stream.ru") do |server|
        yield(*meet(server, path))
        assert_equal 0, server.stop.exitstatus, server.lines.join
      end
    end
  end

  # @return [Array<String>] what the subscriber got, and what the publisher did
  def meet(server, path)
    RawClient.open(server.port) do |subscriber|
      subscriber.write("GET /subscribe HTTP/1.1\r\nHost: a\r\n\r\n")
      subscriber.socket.wait_readable(RawClient::READ_MAX)
      RawClient.open(server.port) do |publisher|
        publisher.write("GET #{path} HTTP/1.1\r\nHost: a\r\n\r\n")
        Timeout.timeout(RawClient::READ_MAX) { nil until RawClient.get(server.port, "/tries").body == "1" }
        [subscriber.response.body, publisher.response.body]
      end
    end
  end

  %w[/publish /publish_from_stream].each do |path|
    define_method(:"test_the_publisher_waits_for_its_turn#{path.tr("/", "_")}") do
      serve(path, %w[fibers threads:3]) do |subscribed, answer|
        assert_equal "published", answer
        assert_equal [BYTES + 10, 1], [subscribed.bytesize, subscribed.scan(/^published$/).size]
      end
    end
  end
end
