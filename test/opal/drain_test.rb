# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"

# A server that is told to end while it is busy: whoever is connected is answered, on each JavaScript runtime.
class OpalDrainTest < Minitest::Test
  include OpalRuntimes

  APP = File.expand_path("support/app.ru", __dir__)
  CLIENTS = 8
  BEFORE = 400 # requests that have been answered when it is told to end
  PATHS = %w[/ /flushes /promises /text].freeze
  UPLOAD = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
  WORK = ["/works"].freeze
  WORKERS = 20 # clients
  CLOSED_WITHIN = 40 # seconds; one is meant, and another until clients that were dropped try again
  ENDED_WITHIN = 50 # long before the time to drain is over
  TOO_LATE = Class.new(StandardError)

  OpalProcess::RUNTIMES.each_key do |command|
    define_method("test_#{command}_fails_nobody") do
      need(command)
      OpalProcess.open(command, app: APP) do |server|
        answered = Queue.new
        clients = Array.new(CLIENTS) { |i| Thread.new { ask_on(server.port, answered, kept: i.even?, late: late_of(command)) } }
        clients.each { |client| client.report_on_exception = false }
        Timeout.timeout(60) { sleep 0.01 until answered.size >= BEFORE }
        status = server.stop
        assert_equal [], clients.flat_map(&:value)
        assert_equal 0, status.exitstatus, server.lines.last(3).join
      end
    end

    # Each answer says that the connection is closed, and each client comes again.
    define_method("test_#{command}_closes_its_door_under_load") { check_door(command) }
    define_method("test_#{command}_cluster_closes_its_door_under_load") { check_door("#{command}_cluster") }

    define_method("test_#{command}_does_not_wait_for_uploads_that_it_refused") do
      need(command)
      OpalProcess.open(command, "--body-bytes-max", "1000", "--body-timeout", "0.5", "--drain-timeout", "30", app: APP) do |server|
        RawClient.open(server.port) do |large|
          large.write("#{UPLOAD}#{5000.to_s(16)}\r\n#{"x" * 5000}")
          RawClient.open(server.port) do |slow|
            slow.write("#{UPLOAD}3\r\nabc\r\n")
            assert_equal [413, 408], [large.response.status, slow.response.status]
          end
        end
        assert_equal 0, server.stop.exitstatus, server.lines.last(3).join
      end
    end
  end

  # Who takes the place of a server that ends keeps it.
  def test_up_node_leaves_the_unix_socket_of_another
    need("up_node")
    Dir.mktmpdir do |folder|
      path = File.join(folder, "socket")
      OpalProcess.open("up_node", "-b", "unix:#{path}", app: APP) do |server|
        clients = work(4) { |answered| loop { answered << UNIXSocket.open(path) { |client| ask_once(client) } } }
        server.signal("TERM")
        Timeout.timeout(60) { sleep 0.001 while File.exist?(path) }
        UNIXServer.open(path) do
          server.await_end
          assert_path_exists path
        end
      ensure
        clients&.each(&:kill)
      end
    end
  end

  private

  def check_door(command)
    need(command)
    OpalProcess.open(command, "--drain-timeout", "60", app: APP) do |server|
      clients = work(WORKERS) { |answered| ask_on(server.port, answered, kept: true, late: late_of(command), paths: WORK) }
      server.signal("TERM")
      server.await(/SIGTERM: /)
      told = now
      assert_empty Timeout.timeout(CLOSED_WITHIN) { clients.flat_map(&:value) }
      assert_equal 0, server.await_end.exitstatus, server.lines.last(3).join
      assert_operator now - told, :<, ENDED_WITHIN
    end
  end

  # @yieldparam answered [Queue]
  # @return [Array<Thread>] that many clients, each of which has been answered twice or so
  def work(count)
    answered = Queue.new
    clients = Array.new(count) { Thread.new { yield answered } }
    clients.each { |client| client.report_on_exception = false }
    Timeout.timeout(60) { sleep 0.01 until answered.size >= 2 * count }
    clients
  end

  def ask_once(client)
    client.write("GET /works HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    client.read
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  # Bun may close its socket as somebody comes, whom the kernel resets.
  #
  # @return [Array<Class>] what may happen to a new client at the end
  def late_of(command)
    command.start_with?("up_bun") ? [Errno::ECONNRESET] : []
  end

  # Until nobody listens: the kernel refuses who comes then.
  #
  # @return [Array<String>] what went wrong
  def ask_on(port, answered, kept:, late:, paths: PATHS)
    loop { RawClient.open(port) { |client| ask_while_kept(client, answered, kept, late, paths) } }
  rescue Errno::ECONNREFUSED, TOO_LATE
    []
  rescue StandardError => e
    ["#{e.class}: #{e.message}"]
  end

  def ask_while_kept(client, answered, kept, late, paths)
    paths.cycle do |path|
      client.write("GET #{path} HTTP/1.1\r\nHost: a\r\n#{"Connection: close\r\n" unless kept}\r\n")
      response = read(client, late) or raise "no response to #{path}"
      late = []
      answered << response.status
      raise "#{response.status} to #{path}" unless response.status == 200
      break if !kept || response.headers["connection"] == ["close"]
    end
  end

  def read(client, late)
    client.response
  rescue *late
    raise TOO_LATE
  end
end
