# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/example_process"
require "open3"

# The examples do what they say.
class ExamplesTest < Minitest::Test
  CLIENTS = 20
  WAIT_MAX = 120 # seconds

  def capture_exceptions
    super { Timeout.timeout(WAIT_MAX) { yield } }
  end

  %w[single_thread worker_threads worker_threads_own_queues worker_threads_own_loops].each do |name|
    define_method("test_loop_http_server_#{name}") { check_http("loop_http_server/#{name}.rb") }
  end

  def test_loop_http_server_without_the_extension
    check_http("loop_http_server/single_thread.rb", "UPWELL_PURE" => "1")
  end

  def test_scheduler_pipe
    assert_equal "writing\nread: Hello World\n", output_of("scheduler/pipe.rb")
  end

  def test_scheduler_http_server
    run_example("scheduler/http_server.rb") do |port|
      sockets = Array.new(CLIENTS) { TCPSocket.new("127.0.0.1", port) }
      3.times do |i|
        sockets.each { |socket| socket << "GET /#{i} HTTP/1.1\r\nHost: a\r\n" }
        sockets.each { |socket| socket << "\r\n" }
        sockets.each { |socket| assert_match %r{\A/#{i} at \d{4}-}, body(socket) }
      end
      sockets.each { |socket| socket << "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" }
      sockets.each { |socket| assert_match(%r{\r\n\r\n/last at .*\n\z}m, socket.read) }
      sockets.each(&:close)
      assert_equal "", too_long_a_head(port)
    end
  end

  # The server answers no one before all have asked.
  def test_scheduler_parallel_fetch
    server = TCPServer.new("127.0.0.1", 0)
    addresses = Array.new(CLIENTS) { |i| "http://127.0.0.1:#{server.addr[1]}/#{i}" }
    answering = Thread.new do
      sockets = addresses.map { server.accept }
      sockets.each { |socket| socket << "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello" }
      sockets.each(&:close_write).each(&:read).each(&:close)
    end
    lines = output_of("scheduler/parallel_fetch.rb", *addresses).lines
    assert_equal addresses.map { |address| "#{address}: 200, 5 bytes\n" }.sort, lines.sort
    answering.join
    server.close
    assert_match(/refused/, output_of("scheduler/parallel_fetch.rb", addresses.first))
  end

  def test_echo_server
    run_example("echo_server/server.rb") do |port|
      TCPSocket.open("127.0.0.1", port) do |socket|
        bytes = "0123456789" * 200_000 # more than sockets hold
        writer = Thread.new { socket.write(bytes) && socket.close_write }
        assert_equal bytes, socket.read
        writer.join
      end
    end
  end

  def test_chat
    run_example("chat/server.rb", "30") do |port|
      first = connect(port, 1)
      second = connect(port, 2)
      assert_equal "guest 2 is here\n", first.gets
      second << "hello\nworld\n"
      assert_equal ["guest 2: hello\n", "guest 2: world\n"], [first.gets, first.gets]
      first << "half a line"
      first.close
      assert_equal "guest 1 has left\n", second.gets
      second.close
    end
  end

  def test_whoever_is_silent_has_to_leave_the_chat
    run_example("chat/server.rb", "0.05") do |port|
      guest = connect(port, 1)
      assert_nil guest.gets
      guest.close
    end
  end

  private

  def run_example(path, *arguments, environment: {})
    status = ExampleProcess.open(path, *arguments, environment: environment) { |example| yield example.port }
    assert_predicate status, :success?
  end

  def output_of(path, *arguments)
    output, status = Open3.capture2e(RbConfig.ruby, "-I#{ExampleProcess::ROOT}/lib", "#{ExampleProcess::ROOT}/examples/#{path}", *arguments)
    assert_predicate status, :success?, output
    output
  end

  def connect(port, number)
    TCPSocket.new("127.0.0.1", port).tap { |socket| assert_equal "guest #{number} is here\n", socket.gets }
  end

  def check_http(path, environment = {})
    run_example(path, environment: environment) do |port|
      sockets = Array.new(CLIENTS) { TCPSocket.new("127.0.0.1", port) }
      3.times do
        sockets.each { |socket| socket << "GET / HTTP/1.1\r\nHost: a" }
        sockets.each { |socket| socket << "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n" }
        sockets.each { |socket| 2.times { assert_equal "Hello, world!", body(socket) } }
      end
      sockets.each(&:close)
      assert_equal "", too_long_a_head(port)
    end
  end

  def body(socket)
    length = socket.gets("\r\n\r\n")[/content-length: (\d+)/i, 1].to_i
    socket.read(length)
  end

  def too_long_a_head(port)
    TCPSocket.open("127.0.0.1", port) do |socket|
      socket.write("x" * 100_000)
      socket.read
    end
  rescue SystemCallError
    ""
  end
end
