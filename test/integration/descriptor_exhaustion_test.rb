# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/static_file_tests"

# A crawler asks for more files than the process may have open: whoever comes after it is served all the same.
class DescriptorExhaustionTest < Minitest::Test
  FILE_BYTES = 9_000 # more than is kept in memory
  FILES = Integer(ENV.fetch("FILES", 300))
  LIMIT = Integer(ENV.fetch("LIMIT", 128)) # of descriptors
  CLIENTS = LIMIT * 2 / 5
  PROMPT = Integer(ENV.fetch("PROMPT_MS", 10_000)) # milliseconds for one client; far less where nobody else computes
  LOOK = 0.5 # seconds until one that is not answered may wait for room
  RESERVE = 8 # descriptors, at most, that the server keeps free

  def setup
    @dir = Dir.mktmpdir
    content = "x" * FILE_BYTES
    FILES.times { |i| File.write(File.join(@dir, "file#{i}"), content) }
  end

  def teardown
    FileUtils.rm_rf(@dir)
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC, :millisecond)
  end

  def open_server(*options, **command, &block)
    ServerProcess.open(*ServerProcess::PATIENT, *options, spawn: { rlimit_nofile: [LIMIT, LIMIT] }, **command, &block)
  end

  def crawl(port)
    RawClient.open(port) do |client|
      FILES.times do |i|
        client.write("GET /file#{i} HTTP/1.1\r\nHost: test\r\n\r\n")
        assert_equal FILE_BYTES, client.response.body.bytesize, i
      end
    end
  end

  # All at once, each on a connection that stays.
  def assert_everybody_is_served(port, target)
    clients = Array.new(CLIENTS) do
      began = now
      client = RawClient.new(port)
      client.write("GET #{target} HTTP/1.1\r\nHost: test\r\n\r\n")
      assert_equal 200, client.response.status
      assert_operator now - began, :<, PROMPT
      client
    end
    clients.each(&:close)
  end

  # Clients that come and stay, each in the midst of its next request, until one is not answered: it waits for room.
  #
  # @return [Array<RawClient>]
  def stay(server, target)
    clients = []
    LIMIT.times do
      clients << RawClient.new(server.port)
      clients.last.write("GET #{target} HTTP/1.1\r\nHost: test\r\n\r\n")
      return clients unless room_for?(server, clients.last)

      assert_equal 200, clients.last.response.status, clients.size
      clients.last.write("\r\n") # may precede a request: an idle client would make room
    end
    flunk "there is room without an end"
  end

  # One that is not answered waits for room only where there is none: the machine may hold the server up.
  def room_for?(server, client)
    deadline = now + PROMPT
    until client.socket.wait_readable(LOOK)
      return false if server.descriptors >= LIMIT - RESERVE

      assert_operator now, :<, deadline, "nobody answers, and there is room: #{server.descriptors} of #{LIMIT}"
    end
    true
  end

  def assert_room_for_files(server, target)
    crawl(server.port)
    clients = stay(server, target)
    assert_operator clients.size, :>, LIMIT / 2
    clients.shift.close
    assert_equal 200, clients.last.response.status
  ensure
    clients&.each(&:close)
  end

  def ask(client, target)
    client.write("GET #{target} HTTP/1.1\r\nHost: test\r\n\r\n")
    client
  end

  # Nobody leaves; who waits for room gets that which the application gives back.
  def assert_room_that_is_given_back(server)
    clients = [ask(RawClient.new(server.port), "/keep")]
    assert_equal 200, clients.last.response.status
    clients.last.write("\r\n")
    clients.concat(stay(server, "/"))
    assert_operator clients.size, :<, LIMIT / 4
    assert_equal 200, ask(clients.first, "/give_back").response.status
    assert clients.last.socket.wait_readable(10), "the room is still lost"
    assert_equal 200, clients.last.response.status
  ensure
    clients&.each(&:close)
  end

  BACKENDS.each do |backend|
    define_method("test_descriptors_that_an_application_gives_back_#{backend}") do
      open_server("--backend", backend, app: "descriptor_exhaustion.ru") { |server| assert_room_that_is_given_back(server) }
    end

    define_method("test_files_for_clients_that_stay_#{backend}") do
      open_server("--backend", backend, app: @dir, command: ["static"]) { |server| assert_room_for_files(server, "/file0") }
    end

    define_method("test_files_beside_an_application_for_clients_that_stay_#{backend}") do
      open_server("--backend", backend, "--public", @dir, app: "descriptor_exhaustion.ru") { |server| assert_room_for_files(server, "/file0") }
    end

    define_method("test_clients_after_a_crawler_#{backend}") do
      open_server("--backend", backend, "--threads", "2", app: @dir, command: ["static"]) do |server|
        2.times { crawl(server.port) }
        assert_everybody_is_served(server.port, "/file0")
      end
    end

    %w[fibers inline threads:2].each do |mode|
      define_method("test_clients_of_an_application_after_a_crawler_#{backend}_#{mode}") do
        open_server("--backend", backend, "--mode", mode, "--public", @dir, app: "descriptor_exhaustion.ru") do |server|
          crawl(server.port)
          assert_everybody_is_served(server.port, "/")
          crawl(server.port)
          assert_operator Integer(RawClient.get(server.port, "/open").body), :>, LIMIT / 4
          crawl(server.port)
          assert_equal 200, RawClient.get(server.port, "/file").status unless mode.start_with?("threads") # whose workers do not ask the loop
        end
      end
    end
  end
end
