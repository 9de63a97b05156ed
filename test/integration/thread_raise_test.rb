# frozen_string_literal: true

require_relative "../test_helper"

# What other threads raise into one that serves is for the request that runs, and harms neither another nor the server.
class ThreadRaiseTest < Minitest::Test
  MODES_AND_ROOM = { "inline" => 1, "fibers:4" => 4, "threads:3" => 3 }.freeze # requests at once
  KINDS = %w[computes sleeps pops enumerates expires schedules streams].freeze
  SECONDS = 1.5

  def serve(modes = MODES_AND_ROOM.keys)
    each_backend_and_mode(modes) do |backend, mode|
      Dir.mktmpdir do |folder|
        log = File.join(folder, "log")
        ServerProcess.open("--mode", mode, "--backend", backend, app: "thread_raise.ru", environment: { "LOG" => log }) do |server|
          yield server, log, mode
        end
      end
    end
  end

  def test_an_exception_ends_the_request_that_runs
    serve do |server, log|
      assert_equal 500, RawClient.get(server.port, "/strikes_itself?").status
      assert_equal "sleeps ", RawClient.get(server.port, "/sleeps?").body
      assert_match(/during GET \/strikes_itself: .*for whom it runs \(KeyError\)/, File.read(log))
    end
  end

  # By name, or by whoever raises it while rescuing another.
  def test_an_exception_has_the_cause_that_it_was_given
    serve do |server|
      %w[computes waits].product(["", "_rescued"]).map(&:join).each do |how|
        assert_equal [how, "late, #<KeyError: why>"], [how, RawClient.get(server.port, "/hears_why?#{how}").body]
      end
    end
  end

  def test_an_exception_has_the_keywords_that_came_beside_its_cause
    serve { |server| assert_equal "[[:key, 1]], #<KeyError: why>", RawClient.get(server.port, "/hears_keywords?").body }
  end

  # Though a middleware has taken what tells copies of env apart.
  def test_an_exception_strikes_the_request_it_names
    [%w[fibers late], %w[fibers other], %w[threads:2 late], %w[threads:2 other]].each do |mode, first|
      ServerProcess.open("--mode", mode, app: "thread_raise_without_hijack.ru") do |server|
        asked = [first, *(%w[late other] - [first])].map { |path| [path, Thread.new { RawClient.get(server.port, "/#{path}").status }] }
        assert_equal({ "late" => 500, "other" => 200 }, asked.to_h { |path, thread| [path, thread.value] }.sort.to_h, [mode, first].inspect)
      end
    end
  end

  def test_what_a_trap_handler_raises_between_requests_is_logged
    serve do |server, log|
      2.times do |done|
        assert_equal "sleeps ", RawClient.get(server.port, "/sleeps?").body
        server.signal("WINCH")
        await_log(log, /(?:Ignored an exception .*by a trap handler.*){#{done + 1}}/m)
      end
      assert_predicate server.stop, :success?
    end
  end

  def test_an_exception_for_nobody_is_logged
    serve do |server, log|
      assert_equal "strikes_later ", RawClient.get(server.port, "/strikes_later?").body
      await_log(log, /Ignored an exception .*too late \(RuntimeError\)/)
      assert_equal "sleeps ", RawClient.get(server.port, "/sleeps?").body
    end
  end

  # Ruby's mask, of Thread.handle_interrupt, is the thread's, and so holds back what is for others.
  def test_an_exception_does_not_strike_another_request_that_masked_it
    statuses = {}
    serve do |server, log, mode|
      %w[computes_struck waits_struck].each do |name|
        masking, statuses[[mode, name]] = beside_one_that_masks(server) { RawClient.get(server.port, "/#{name}?").status }
        assert_equal 20_000_000, masking.bytesize
      end
      refute_match(/during GET \/masks/, File.read(log))
      assert_predicate server.stop, :success?
    end
    assert_equal [%w[fibers:4 computes_struck]], statuses.select { |_, status| status == 200 }.keys
  end

  # As of a block that has just ended, on Ruby 3.1.
  def test_a_timeout_for_nobody_is_logged
    serve do |server, log|
      assert_equal "times_out_late ", RawClient.get(server.port, "/times_out_late?").body
      await_log(log, /Ignored an exception .*too late \(Timeout::Error\)/)
      assert_equal "sleeps ", RawClient.get(server.port, "/sleeps?").body
    end
  end

  def test_what_ends_the_process_does
    serve do |server|
      RawClient.open(server.port) do |client|
        client.write("GET /ends_itself? HTTP/1.1\r\nHost: test\r\n\r\n")
        assert_predicate server.await_end, :success?
      end
    end
  end

  def test_killing_the_thread_of_the_loop_ends_the_process
    serve(%w[inline fibers]) do |server|
      RawClient.open(server.port) do |client|
        client.write("GET /kills_itself? HTTP/1.1\r\nHost: test\r\n\r\n")
        server.await_end
      end
    end
  end

  # Nothing is lost however often and wherever it strikes: no fiber, no thread, no request, and no server.
  def test_many_exceptions
    statuses = []
    serve do |server, _log, mode|
      RawClient.get(server.port, "/strikes?#{SECONDS}")
      finish = now + SECONDS
      statuses.concat(Array.new(4) { |i| Thread.new { ask_until(finish, server.port, i) } }.flat_map(&:value))
      nil until RawClient.get(server.port, "/calms_down?").status == 200
      room = MODES_AND_ROOM.fetch(mode)
      answers = Array.new(room) { Thread.new { RawClient.get(server.port, "/meets?#{room}").body } }.map(&:value)
      assert_equal ["meets #{room}"] * room, answers
      assert_predicate server.stop, :success?
    end
    assert_equal [200, 500], statuses.uniq.sort
  end

  private

  # @return [Array(String, Object)] what the client got that did not keep up, and what the block gives, which is called meanwhile
  def beside_one_that_masks(server)
    RawClient.open(server.port) do |client|
      client.write("GET /masks? HTTP/1.1\r\nHost: test\r\n\r\n")
      client.socket.wait_readable(RawClient::READ_MAX)
      result = yield
      [client.response.body, result]
    end
  end

  # @return [Array<Integer>] the statuses
  def ask_until(finish, port, seed)
    random = Random.new(seed)
    statuses = []
    RawClient.open(port) { |client| 10.times { (statuses << ask(client, random)).last || break } } while now < finish
    statuses.compact
  end

  # @return [Integer, nil] nil for a stream that was cut
  def ask(client, random)
    kind = KINDS.sample(random: random)
    query = (random.rand * 0.001).round(6)
    client.write("GET /#{kind}?#{query} HTTP/1.1\r\nHost: test\r\n\r\n")
    response = client.response
    return assert_equal("streams", kind) && nil unless response

    assert_equal expected(kind, query), response.body if response.status == 200
    response.status
  rescue EOFError, Errno::ECONNRESET
    assert_equal("streams", kind) && nil
  end

  def expected(kind, query)
    kind == "streams" ? "#{"streams " * 5}#{query}" : "#{kind} #{query}"
  end

  def await_log(path, pattern)
    finish = now + 60
    sleep(0.01) until File.read(path).match?(pattern) || now > finish
    assert_match pattern, File.read(path)
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
