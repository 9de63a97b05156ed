# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/request_release_file"

# Requests that wait, in mode fibers: others are served meanwhile, on one thread.
class FibersModeTest < Minitest::Test
  def serve(*arguments)
    BACKENDS.each do |backend|
      ServerProcess.open("--backend", backend, *arguments, app: "fibers_mode.ru") { |server| yield server }
    end
  end

  # @return [Array<String>] the bodies, and how long all took
  def get_all(server, paths)
    began = now
    clients = paths.map { |path| ask(server, path) }
    bodies = clients.map { |client| client.response.body.chomp }
    [bodies, now - began]
  ensure
    clients&.each(&:close)
  end

  def ask(server, path)
    RawClient.new(server.port).tap { |client| client.write("GET #{path} HTTP/1.1\r\nHost: 127.0.0.1:#{server.port}\r\n\r\n") }
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def test_fibers_is_the_default
    ServerProcess.open { |server| assert_match(/, fibers\), no workers/, server.lines.last) }
  end

  # One after another they would take 20 seconds.
  def test_a_hundred_requests_wait_at_once
    serve do |server|
      bodies, seconds = get_all(server, ["/sleeps"] * 100)
      assert_equal ["slept"] * 100, bodies
      assert_operator seconds, :<, 10
    end
  end

  def test_lines_of_several_requests_stay_whole
    serve do |server|
      get_all(server, ["/tells"] * 5)
      assert_equal ["toldtoldtold\n"] * 100, Array.new(100) { server.await(//).string }
    end
  end

  def test_a_request_waits_for_processes_queues_and_sockets_alike
    serve { |server| RequestReleaseFile.open { |release| wait_alike(server, release) } }
  end

  # They go on once all have begun: none may keep another from that.
  def wait_alike(server, release)
    clients = (%w[/runs /pops /asks] * 5).map { |path| ask(server, "#{path}?#{release.path}") }
    clients.size.times { server.await(/\A(?:runs|pops|asks) now$/) }
    release.give
    assert_equal %w[ran popped released] * 5, (clients.map { |client| client.response.body.chomp })
  ensure
    clients&.each(&:close)
  end

  def test_a_request_whose_time_is_up_goes_on
    serve { |server| assert_equal "expired", RawClient.get(server.port, "/expires").body }
  end

  def test_beyond_the_limit_requests_queue
    serve("--mode", "fibers:2") do |server|
      bodies, seconds = get_all(server, ["/sleeps"] * 6)
      assert_equal ["slept"] * 6, bodies
      assert_operator seconds, :>=, 0.6
    end
  end

  def test_nothing_of_a_request_is_found_by_the_next
    serve do |server|
      RawClient.open(server.port) do |client|
        3.times do
          client.write("GET /finds HTTP/1.1\r\nHost: test\r\n\r\n")
          assert_equal "[]", client.response.body
        end
      end
    end
  end

  def test_a_fiber_serves_again_whatever_was_left_in_it
    serve do |server|
      assert_equal 1, Array.new(3) { RawClient.get(server.port, "/litters").body }.uniq.size
    end
  end

  def test_each_request_inherits_what_the_root_fiber_stored
    skip "Fiber storage is of Ruby 3.2" unless Fiber.respond_to?(:[])
    ServerProcess.open(app: "fiber_storage.ru") do |server|
      assert_equal 1, Array.new(3) { RawClient.get(server.port, "/").body[/\Ainherited, nil, fiber (\d+)\z/, 1] || flunk }.uniq.size
    end
  end

  def test_the_application_schedules_fibers_of_its_own
    serve { |server| assert_equal "first second third", RawClient.get(server.port, "/schedules").body }
  end

  # Its fiber is within Fiber#resume for ever.
  def test_a_fiber_that_goes_on_too_early_serves_no_other_request
    serve do |server|
      victim = ask(server, "/hears")
      RawClient.get(server.port, "/raises_within")
      assert_equal "heard", victim.response.body
      assert_equal ["in time"] * 4, get_all(server, ["/expires_soon"] * 4).first
      victim.close
    end
  end

  def test_a_request_whose_fiber_nobody_refers_to_stays_in_memory
    serve("--drain-timeout", "1") do |server|
      clients = Array.new(3) { ask(server, "/loses_itself") }
      3.times { assert_equal "100", RawClient.get(server.port, "/collects").body }
      assert_equal "looked", RawClient.get(server.port, "/looks_through").body
      assert_equal 1, server.stop.exitstatus # tells what is still being served
      clients.each(&:close)
      assert_equal 3, server.lines.grep(/in flight after 1 s/).join.scan("GET /loses_itself").size, server.lines.join
    end
  end

  def test_an_error_after_a_wait_is_answered_and_logged
    serve do |server|
      assert_equal 500, RawClient.get(server.port, "/fails").status
      server.await(/during GET \/fails: .*on purpose/)
      assert_equal "slept", RawClient.get(server.port, "/sleeps").body
    end
  end

  # As by a deadline of the application's own that comes too late: it costs the fiber that rests, and nobody else anything.
  def test_who_ends_a_fiber_that_rests_goes_on
    paths = ["/raises_late", ("/kills_late" if Fiber.method_defined?(:kill))].compact
    serve do |server|
      paths.each do |path|
        assert_equal ["went on"], get_all(server, [path]).first
        assert_equal ["slept"] * 3, get_all(server, ["/sleeps"] * 3).first
      end
      assert_predicate server.stop, :success?
    end
  end

  def test_a_request_that_computes_for_long_is_reported_with_its_place
    serve("--stuck-timeout", "0.2") { |server| RequestReleaseFile.open { |release| compute(server, release) } }
  end

  def compute(server, release)
    client = ask(server, "/computes?#{release.path}")
    server.await(/GET \/computes from 127\.0\.0\.1 has blocked the loop for \d+\.\d s/)
    server.await(/fibers_mode\.ru:\d+:in .*computes/)
    release.give
    assert_equal "computed", client.response.body
  ensure
    client&.close
  end

  # Each computes for 5 ms; between two ticks of 10 ms are as many as compute for 60 ms, at most.
  def test_whoever_waits_goes_on_between_requests_that_came_at_once
    serve do |server|
      RequestReleaseFile.open do |release|
        ticker = ask(server, "/ticks")
        server.await(/ticks now/)
        clients = ["/computes?#{release.path}", *["/counts"] * 64].map { |path| ask(server, path) }
        release.give
        clients.each { |client| assert_equal 200, client.response.status }
        assert_operator Integer(ticker.response.body), :<, 12
      ensure
        [ticker, *clients].each(&:close)
      end
    end
  end

  def test_a_request_cannot_take_the_scheduler_from_the_server
    serve do |server|
      assert_equal "[true, true, true]", RawClient.get(server.port, "/unsets").body
      assert_equal "[true, true]", RawClient.get(server.port, "/sets").body
      assert_equal ["slept"] * 5, get_all(server, ["/sleeps"] * 5).first
      assert_predicate server.stop, :success?
    end
  end

  def test_without_a_stack_for_another_fiber_requests_wait_for_those_that_there_are
    serve do |server|
      assert_equal "full", RawClient.get(server.port, "/fills").body
      bodies, = get_all(server, ["/sleeps"] * 100)
      assert_equal ["slept"] * 100, bodies
      server.await(/Cannot create another fiber; \d+ fibers serve/)
      assert_match(/can't/, RawClient.get(server.port, "/resumes").body)
      assert_equal ["slept"] * 3, get_all(server, ["/sleeps"] * 3).first
      assert_equal "empty", RawClient.get(server.port, "/empties").body
      sleep 1.1 # until it is tried again
      bodies, seconds = get_all(server, ["/sleeps"] * 100)
      assert_equal ["slept"] * 100, bodies
      assert_operator seconds, :<, 10
      assert_predicate server.stop, :success?
    end
  end

  def test_draining_waits_for_those_that_wait
    serve do |server|
      clients = Array.new(10) { ask(server, "/sleeps") }
      server.signal("TERM")
      assert_equal ["slept"] * 10, (clients.map { |client| client.response.body })
      clients.each(&:close)
      assert_predicate server.await_end, :success?
    end
  end
end
