# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/publish_subscribe_checks"

# Publish and subscribe, by clients and by the process, in every mode.
class PublishSubscribeTest < Minitest::Test
  include PublishSubscribeChecks

  CHECKS = %i[channels threads forms patterns too_many_patterns blocks unsubscribing order errors collection listeners counts].freeze
  SUBSCRIBERS = 100
  WAIT_MAX = 60 # seconds, for an answer while a thread publishes without end

  def test_all_of_it_in_every_mode
    MODES.each do |mode|
      serve("--mode", mode) do |server|
        CHECKS.each { |name| send(:"check_#{name}", server) }
        assert_predicate server.stop, :success?, "#{mode}: #{server.lines.join}"
      end
    end
  end

  def test_on_every_backend
    BACKENDS.each do |backend|
      serve("--backend", backend) do |server|
        check_channels(server)
        check_blocks(server)
        assert_predicate server.stop, :success?, "#{backend}: #{server.lines.join}"
      end
    end
  end

  def test_a_thread_that_publishes_leaves_time_for_all_else
    MODES.each do |mode|
      serve("--mode", mode) do |server|
        clients = Array.new(SUBSCRIBERS) { join(server).tap { |client| tell(client, "subscribe flood") } }
        reader = read_all(clients)
        assert_equal "on", get(server, "/flood")
        Timeout.timeout(WAIT_MAX) { nil until get(server, "/stats").match?(/delivered=[1-9]/) }
        Timeout.timeout(WAIT_MAX) { 10.times { get(server, "/stats") } }
        assert_equal "off", Timeout.timeout(WAIT_MAX) { get(server, "/calm") }
        reader.kill.join
        clients.each(&:close_socket)
        assert_predicate server.stop, :success?, mode
      ensure
        clients&.each(&:close_socket)
      end
    end
  end

  # A preloaded application has subscribed in the process that serves nobody.
  def test_in_a_worker
    serve("-w", "1", "--preload") do |server|
      check_listeners(server)
      assert_predicate server.stop, :success?
    end
  end

  def test_a_server_that_ends_while_a_thread_publishes
    MODES.each do |mode|
      serve("--mode", mode) do |server|
        assert_equal "on", get(server, "/flood")
        assert_predicate server.stop, :success?, "#{mode}: #{server.lines.join}"
      end
    end
  end

  def test_while_every_allocation_collects
    %w[fibers threads:2].each do |mode|
      serve("--mode", mode) do |server|
        meet(server) do |one, other|
          tell(one, "stress on")
          tell(one, "block a")
          tell(other, "publish a x")
          assert_equal "a: x (UTF-8)", one.receive, mode
          tell(one, "stress off")
        end
      end
    end
  end

  private

  def serve(*arguments, **options)
    ServerProcess.open("--drain-timeout", "30", *arguments, app: "publish_subscribe.ru", **options) { |server| yield server }
  end

  # What comes meanwhile is of no interest.
  def read_all(clients)
    sockets = clients.map { |client| client.instance_variable_get(:@socket) }
    Thread.new do
      loop { IO.select(sockets)[0].each { |socket| socket.readpartial(65_536) } }
    rescue EOFError, SystemCallError
      nil
    end
  end

  def await_patterns(server, number)
    Timeout.timeout(WAIT_MAX) { nil until get(server, "/stats").include?(" patterns=#{number} ") }
  end

  def check_threads(server)
    meet(server) do |one, other|
      tell(one, "from-thread a")
      tell(other, "publish-in-thread a x")
      assert_equal "x", one.receive
    end
  end

  def check_order(server)
    meet(server) do |one, _other|
      tell(one, "subscribe a")
      one.send_text("both a")
      assert_equal Array.new(20) { |number| ["p#{number}", "w#{number}"] }.flatten, Array.new(41) { one.receive } - ["done"]
    end
  end

  def check_collection(server)
    meet(server) do |one, other|
      tell(one, "block a")
      3.times do
        tell(other, "collect")
        tell(other, "publish a x")
        assert_equal "a: x (UTF-8)", one.receive
      end
    end
    get(server, "/publish?log=collected")
    server.await(/^log collected/)
  end

  # All clients have gone, and their subscriptions with them.
  def check_counts(server)
    Timeout.timeout(WAIT_MAX) { nil until get(server, "/stats").include?(" channels=1 patterns=1 subscribers=2 ") }
  end
end
