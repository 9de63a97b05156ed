# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/websocket_client"

# Publish and subscribe, by clients and by the process, in every mode.
class ChannelsTest < Minitest::Test
  CHECKS = %i[channels forms patterns too_many_patterns blocks unsubscribing order errors collection listeners counts].freeze
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
    ServerProcess.open("--drain-timeout", "5", *arguments, app: "channels.ru", **options) { |server| yield server }
  end

  def join(server)
    WebSocketClient.new(server.port)
  end

  def meet(server)
    WebSocketClient.open(server.port) { |one| WebSocketClient.open(server.port) { |other| yield one, other } }
  end

  # Once it is done.
  def tell(client, command)
    client.send_text(command)
    assert_equal "done", client.receive, command
  end

  def ask(client, command)
    client.send_text(command)
    client.receive.tap { assert_equal "done", client.receive, command }
  end

  def get(server, path)
    RawClient.get(server.port, path).body
  end

  # Different listeners may hear at the same time: in any order.
  def await(server, pattern)
    server.await(pattern) if server.lines.none?(pattern)
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

  def check_channels(server)
    meet(server) do |one, other|
      tell(one, "subscribe a")
      tell(one, "from-thread b")
      tell(other, "publish a häy")
      tell(other, "publish nobody x")
      tell(other, "publish-in-thread b 2")
      assert_equal "true", get(server, "/publish?a=3")
      assert_equal %w[häy 2 3], Array.new(3) { one.receive }
      assert_equal ["own", "done"], publish_to_oneself(one)
    end
  end

  def publish_to_oneself(client)
    client.send_text("publish a own")
    [client.receive, client.receive]
  end

  def check_forms(server)
    meet(server) do |one, other|
      { "subscribe a" => :text, "as binary a" => :binary, "as text a" => :text }.each do |command, type|
        tell(one, command)
        tell(other, "publish a x")
        event = one.event
        assert_equal [type, "x"], [event.type, event.data], command
      end
      tell(other, "binary a x")
      assert_equal :text, one.event.type
      tell(one, "subscribe a")
      tell(other, "binary a x")
      assert_equal :binary, one.event.type
    end
  end

  def check_patterns(server)
    meet(server) do |one, other|
      tell(one, "pattern news.[a-c]*")
      tell(one, "patterns *.a?")
      %w[news.d news.b x.ab news.ab].each { |name| tell(other, "publish #{name} #{name}") }
      assert_equal ["news.ab", "news.ab: news.ab (UTF-8)", "news.b", "x.ab: x.ab (UTF-8)"], Array.new(4) { one.receive }.sort
    end
  end

  # The application has one of them.
  def check_too_many_patterns(server)
    await_patterns(server, 1)
    join(server).tap do |client|
      tell(client, "crowd 1023")
      assert_equal "all*", get(server, "/hear-all")
      server.await(/there are 1024 patterns already/)
      client.send_text("crowd 1")
      nil until client.receive != "done"
      assert_equal 1011, client.close_code
      server.await(/there are 1024 patterns already/)
    end.close_socket
    await_patterns(server, 1)
  end

  def await_patterns(server, number)
    Timeout.timeout(WAIT_MAX) { nil until get(server, "/stats").include?(" patterns=#{number} ") }
  end

  def check_blocks(server)
    meet(server) do |one, other|
      tell(one, "block a")
      tell(one, "handler a")
      tell(other, "publish a häy")
      tell(other, "binary a x")
      assert_equal [*["a: häy (UTF-8)"] * 2, *["a: x (ASCII-8BIT)"] * 2], Array.new(4) { one.receive }
      tell(other, "raise b")
      one.send_text("publish b failed")
      assert_equal ["done", nil, 1011], [one.receive, other.receive, other.close_code]
    end
    server.await(/failed/)
  end

  def check_unsubscribing(server)
    meet(server) do |one, other|
      tell(one, "once a")
      tell(one, "block b")
      tell(one, "subscribe b")
      tell(one, "pattern b")
      tell(one, "unsubscribe b")
      tell(one, "block ä")
      one.send_binary("unsubscribe ä")
      assert_equal "done", one.receive
      2.times { |number| tell(other, "publish a #{number}") }
      tell(other, "publish b x")
      tell(other, "publish ä x")
      assert_equal "once 0", one.receive
      assert_equal '["a", true, false, nil]', ask(one, "equal a")
      tell(other, "publish a x")
      tell(one, "publish c last")
    end
  end

  def check_order(server)
    meet(server) do |one, _other|
      tell(one, "subscribe a")
      one.send_text("both a")
      assert_equal Array.new(20) { |number| ["p#{number}", "w#{number}"] }.flatten, Array.new(41) { one.receive } - ["done"]
    end
  end

  def check_errors(server)
    WebSocketClient.open(server.port) do |client|
      assert_equal ["ArgumentError"] * 7, ask(client, "wrong").split
      assert_match(/at most 1024 subscriptions/, ask(client, "many"))
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

  def check_listeners(server)
    get(server, "/publish?never=x")
    get(server, "/publish?log=raise")
    await(server, /^log raise/)
    await(server, /in a listener/)
    get(server, "/publish?logs=1")
    await(server, /^\* 1\./)
    assert_equal "later", get(server, "/listen")
    get(server, "/publish?later=1")
    await(server, /^later 1/)
    assert_equal "nil", get(server, "/deaf")
    get(server, "/publish?later=2")
    get(server, "/publish?log=end")
    await(server, /^log end/)
    refute_match(/^never|later 2/, server.lines.join)
  end

  # All clients have gone, and their subscriptions with them.
  def check_counts(server)
    Timeout.timeout(WAIT_MAX) { nil until get(server, "/stats").include?(" channels=1 patterns=1 subscribers=2 ") }
  end
end
