# frozen_string_literal: true

require_relative "raw_client"
require_relative "websocket_client"

# What clients of publish_subscribe.ru can do, wherever that is served. Who includes it has `await_patterns(server, number)`.
module PublishSubscribeChecks
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

  def check_channels(server)
    meet(server) do |one, other|
      tell(one, "subscribe a")
      tell(one, "subscribe b")
      tell(other, "publish a häy")
      tell(other, "publish nobody x")
      tell(other, "publish b 2")
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
      server.await(/this process already has 1024 patterns/)
      client.send_text("crowd 1")
      nil until client.receive != "done"
      assert_equal 1011, client.close_code
      server.await(/this process already has 1024 patterns/)
    end.close_socket
    await_patterns(server, 1)
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

  def check_errors(server)
    WebSocketClient.open(server.port) do |client|
      assert_equal ["ArgumentError"] * 7, ask(client, "wrong").split
      assert_match(/already has 1024 subscriptions/, ask(client, "many"))
    end
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
end
