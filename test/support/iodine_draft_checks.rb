# frozen_string_literal: true

require_relative "raw_client"
require_relative "websocket_client"

# What Iodine's drafts (SPEC-WebSocket-Draft.md, SPEC-PubSub-Draft.md) say that a server, or a module for publish/subscribe, MUST or SHOULD do:
# each sentence and the check that shows it, in the order of the drafts. What they leave open (MAY) is not here, nor what is the application's.
module IodineDraftChecks
  WEBSOCKET = [
    ["env['rack.upgrade?'] MUST be :websocket or :sse for such connections", :kinds],
    ["env['rack.upgrade?'] SHOULD be nil or false where a connection is not upgradeable", :kinds],
    ["The server MUST use env['rack.upgrade'] as the Callback Object unless the status is 300 or more", :statuses],
    ["The response body MUST NOT be sent when switching to a Callback Object", :statuses],
    ["The Callback Object SHOULD be ignored where a connection is not upgradeable", :not_upgradeable],
    ["on_open MUST be called once the connection is established, or the object is linked to it", :handlers],
    ["on_message MUST be called with received data, which MUST be UTF-8 for texts and binary for the rest", :messages],
    ["on_drained MUST be called once the write buffer is empty, where pending is ever more than 0", :drained],
    ["on_close MUST be called after the connection was closed, for whatever reason", :ends],
    ["on_close MUST be called after the Callback Object was replaced", :handlers],
    ["env MUST return the env of the request", :client],
    ["write MUST schedule all data, and returns whether the connection is open; SHOULD raise for what is no String", :writing],
    ["UTF-8 is sent as text, binary as non-text", :writing],
    ["close returns nil, SHOULD return at once, and takes effect once what was written has been sent", :closing],
    ["open? MUST be false once the connection is closed or marked to be, else true", :closing],
    ["pending MUST be -1 once the connection is closed", :closing],
    ["pubsub? MUST be false unless publish/subscribe is supported", :client],
    ["class MUST return the client's Class, which may be extended", :client],
    ["handler MUST return the Callback Object", :handlers],
    ["handler= MUST set a new one, whose on_open MUST be called after on_close of the old one", :handlers],
    ["handler= MUST call both where several are set, one fails, or another thread sets it", :changes],
    ["timeout= SHOULD set the connection's own; ping SHOULD be sent by the server", :timeout],
    ["protocol MUST return what env['rack.upgrade?'] was", :client],
    ["No callback is called until on_open has returned, on_message SHOULD NOT be concurrent, on_close MUST NOT be", :turns]
  ].freeze

  PUBSUB = [
    ["pubsub? MUST return the version, 0", :client],
    ["A block MUST be called with channel and message; without one the client gets the data", :channels],
    ["Patterns MUST be supported, or raise", :patterns],
    ["Without a client and a block an exception MUST be raised", :channels],
    ["A subscription to the same channel should replace the former one", :channels],
    ["A subscription MUST end with the connection", :subscriptions_end],
    ["subscribe MUST return nil on a known failure, else what is truthy", :closing],
    ["unsubscribe should end a subscription to a channel or a pattern", :patterns],
    ["A message that is no String MUST raise", :publishing],
    ["A message's encoding MUST stay valid", :publishing],
    ["publish MUST return true if it is scheduled, and false if it is known to fail", :publishing],
    ["publish with false MUST reach the subscribers of the same process", :publishing],
    ["publish MUST call the engine's publish: the named one's, or the default one's", :engines],
    ["attach MUST tell the engine of all subscriptions, existing and future, each once; several MUST be possible", :engines],
    ["detach MUST remove the engine", :engines],
    ["default= MUST have publish use that engine; default returns it", :default_engine],
    ["reset MUST tell the engine of all existing subscriptions again", :engines]
  ].freeze

  WAIT_MAX = 30 # seconds

  # Each check once.
  #
  # @param but [Array<Symbol>] checks of what is not to be had there
  def check_drafts(server, but: [])
    [*WEBSOCKET, *PUBSUB].group_by(&:last).except(*but).each do |check, sentences|
      send(:"check_#{check}", server)
    rescue Minitest::Assertion => e
      raise e, "#{sentences.map(&:first).join("\n")}\n#{e.message}"
    end
  end

  def join(server, name, path = "/ok", **options)
    WebSocketClient.open(server.port, "#{path}?#{name}", **options) do |client|
      await(server, name, "first: on_open true")
      yield client
    end
  end

  # The lines that the server has told of a client, once a certain one is among them.
  def await(server, name, line)
    server.await(/^#{name} #{line}/) if server.lines.grep(/^#{name} #{line}/).empty?
    told(server, name)
  end

  def told(server, name)
    server.lines.join.scan(/^#{name} (.*)\.$/).flatten
  end

  # What a command of the handler returns.
  def ask(client, command)
    client.send_text(command)
    client.receive.delete_prefix("=")
  end

  def confirm(client, command)
    assert_equal "true", ask(client, command), command
  end

  def check_kinds(server)
    assert_equal "none", RawClient.get(server.port, "/kind").body
    RawClient.listen(server.port, "/kind") { |client| assert_equal "sse", client.response.body }
    error = assert_raises(WebSocketClient::Refused) { WebSocketClient.new(server.port, "/kind") }
    assert_equal 200, error.response.status
  end

  def check_statuses(server)
    { "/refused" => 403, "/moved" => 302 }.each do |path, status|
      error = assert_raises(WebSocketClient::Refused) { WebSocketClient.new(server.port, "#{path}?statuses") }
      assert_equal status, error.response.status
    end
    %w[/zero /ok /].each do |path|
      join(server, "statuses#{path.size}", path) do |client|
        assert_equal [["field"], '"true"'], [client.response.headers["x-own"], ask(client, "call open?").inspect], path
      end
    end
    server.await(/the body is closed/) if server.lines.grep(/the body is closed/).size < 3
    assert_empty told(server, "statuses")
  end

  def check_not_upgradeable(server)
    assert_equal "the body", RawClient.get(server.port, "/ok?plain").body
    assert_empty told(server, "plain")
  end

  def check_messages(server)
    join(server, "messages") do |client|
      client.send_binary("\xff\xfe".b)
      assert_equal "ASCII-8BIT 2", client.receive
      confirm(client, "call open?")
      client.send_text("env ä")
      assert_equal "=nil", client.receive
    end
  end

  def check_drained(server)
    join(server, "drained") do |client|
      client.send_text("much")
      20.times { assert_equal 100_000, client.receive.bytesize }
      client.receive
      await(server, "drained", "first: on_drained 0")
    end
  end

  # The client's close, its end without a word, what no client may send, and the server's close.
  def check_ends(server)
    join(server, "closes") { |client| assert_equal 1000, client.close }
    join(server, "vanishes", &:close_socket)
    join(server, "mistaken") do |client|
      client.write("\x83\x80\0\0\0\0".b) # an opcode that is none
      client.receive
    rescue WebSocketClient::Error, SystemCallError
      nil # uWebSockets.js and Bun end the connection without a word
    end
    join(server, "closed") { |client| ask(client, "close") }
    %w[closes vanishes mistaken closed].each do |name|
      await(server, name, "first: on_close")
      assert_equal ["first: on_close false -1 false nil"], told(server, name).grep(/on_close/), name
    end
  end

  def check_client(server)
    join(server, "client", headers: { "X-Own" => "field" }) do |client|
      assert_equal ['"field"', "0", '"websocket"'], [ask(client, "env HTTP_X_OWN"), ask(client, "call pubsub?"), ask(client, "call protocol")]
      client.send_text("shout hello")
      assert_equal ["HELLO", "=true"], [client.receive, client.receive]
    end
    RawClient.listen(server.port, "/?stream") do |client|
      await(server, "stream", "first: on_open true")
      client.close
    end
  end

  def check_writing(server)
    join(server, "writing") do |client|
      { "write ä" => [:text, "ä"], "bytes ä" => [:binary, "ä".b] }.each do |command, expected|
        client.send_text(command)
        event = client.event
        assert_equal [expected, "=true"], [[event.type, event.data], client.receive], command
      end
      assert_equal "TypeError", ask(client, "number")
    end
  end

  def check_closing(server)
    join(server, "closing") do |client|
      confirm(client, "subscribe a")
      client.send_text("close")
      assert_equal ["last", nil, 1000], [client.receive, client.receive, client.close_code]
    end
    await(server, "closing", "first: on_close false -1 false nil")
  end

  def check_handlers(server)
    join(server, "handlers") do |client|
      assert_equal "[false, true]", ask(client, "change second")
      assert_equal "nil", ask(client, "env nothing")
      client.close
    end
    await(server, "handlers", "second: on_close false")
    assert_equal ["first: on_open true", "first: on_message change second", "first: on_close true", "second: on_open true",
                  "second: on_message env nothing", "second: on_close false"], handed_over(server, "handlers")
  end

  def check_changes(server)
    join(server, "several") do |client|
      ask(client, "change second,second,third")
      ask(client, "env nothing")
      client.close
    end
    await(server, "several", "third: on_close false")
    assert_equal %w[first second second third].each_cons(2).flat_map { |old, new| ["#{old}: on_close true", "#{new}: on_open true"] },
                 handed_over(server, "several").grep_v(/on_message/)[1...-1]
    join(server, "failing") do |client|
      ask(client, "change raising")
      client.send_text("change last")
      nil while client.receive
      assert_equal 1011, client.close_code
    end
    await(server, "failing", "last: on_close false")
    assert_equal ["raising: on_close true", "last: on_open false", "last: on_close false"], handed_over(server, "failing").last(3)
  end

  # From a thread that no event has begun.
  def check_changes_by_threads(server)
    join(server, "threads") do |client|
      assert_equal "[false, true]", ask(client, "change-in-thread second")
      await(server, "threads", "second: on_open true")
    end
    join(server, "asked") do |client|
      assert_equal "true", ask(client, "change-while-asked second third")
      await(server, "asked", "third: on_open true")
    end
    assert_equal ["first: on_close true", "second: on_open true", "second: on_close true", "third: on_open true"],
                 handed_over(server, "asked").grep_v(/on_message/)[1, 4]
  end

  # In the order in which it was told, without what is told twice.
  def handed_over(server, name)
    told(server, name).grep_v(/begins|served|drained/).map { |line| line[/\A\w+: (?:on_message .*|on_\w+ \w+)/] }
  end

  def check_timeout(server)
    join(server, "timeout") do |client|
      confirm(client, "timeout 0.05")
      assert_equal :ping, client.event.type
    end
  end

  # Each callback tells when it begins and when it ends.
  def check_turns(server)
    ahead = WebSocketFrame.write(:text, "slow") + WebSocketFrame.write(:text, "env nothing")
    join(server, "slow", ahead: ahead) do |client|
      2.times { client.receive }
      client.send_text("slow")
    end
    await(server, "slow", "first: on_close")
    served = ["slow", "env nothing", "slow"].flat_map { |text| ["first: on_message #{text}", "first: served #{text.split.first}"] }
    assert_equal ["first: on_open begins", "first: on_open true", *served, "first: on_close false -1 false nil"],
                 told(server, "slow").grep_v(/drained/)
  end

  def meet(server, name)
    join(server, "#{name}-one") { |one| join(server, "#{name}-other") { |other| yield one, other } }
  end

  def check_channels(server)
    meet(server, "channels") do |one, other|
      confirm(one, "block a")
      confirm(other, "publish a 1")
      assert_equal "a=1", one.receive
      assert_equal "nil", ask(one, "unsubscribe a")
      2.times { confirm(one, "subscribe b") }
      confirm(one, "symbol c")
      %w[a b c].each { |name| confirm(other, "publish #{name} #{name}") }
      assert_equal %w[b c], [one.receive, one.receive]
      assert_equal "ArgumentError", ask(one, "orphan a")
    end
  end

  def check_patterns(server)
    meet(server, "patterns") do |one, other|
      confirm(one, "pattern p.*")
      confirm(one, "subscribe p.*")
      confirm(other, "publish p.1 1")
      assert_equal "1", one.receive
      assert_equal "nil", ask(one, "unsubscribe-channel p.*")
      confirm(other, "publish p.* 2")
      assert_equal "2", one.receive
      confirm(one, "subscribe p.*")
      assert_equal "nil", ask(one, "unsubscribe-pattern p.*")
      confirm(other, "publish p.1 none")
      confirm(other, "publish p.* 3")
      assert_equal "3", one.receive
      assert_equal "nil", ask(one, "unsubscribe p.*")
      confirm(other, "publish p.* none")
      confirm(one, "call open?")
    end
  end

  def check_subscriptions_end(server)
    join(server, "observer") do |observer|
      before = ask(observer, "channels").to_i
      join(server, "subscriber") do |client|
        confirm(client, "subscribe ends")
        confirm(client, "pattern ends*")
        assert_equal before + 2, ask(observer, "channels").to_i
      end
      await(server, "subscriber", "first: on_close")
      assert_equal before, ask(observer, "channels").to_i
    end
  end

  def check_publishing(server)
    meet(server, "publishing") do |one, other|
      confirm(one, "subscribe a")
      confirm(other, "publish-here a 1")
      assert_equal "1", one.receive
      assert_equal %w[TypeError ArgumentError], [ask(other, "publish-number a"), ask(other, "publish-broken a")]
      assert_equal "false", ask(other, "publish-by refusing refused")
    end
  end

  def await_engine(server, name, line)
    text = "engine #{name}: #{line}."
    server.await(/^#{Regexp.escape(text)}/) unless server.lines.join.include?(text)
  end

  def check_engines(server)
    meet(server, "engines") do |one, other|
      confirm(one, "subscribe before")
      confirm(one, "attach A")
      confirm(one, "attach B")
      %w[A B].each { |name| await_engine(server, name, "subscribe before false") }
      [one, other].each { |client| confirm(client, "subscribe since") }
      confirm(one, "pattern since*")
      %w[A B].each { |name| await_engine(server, name, "subscribe since* true") }
      confirm(one, "subscribe by")
      confirm(other, "publish-by A hello")
      assert_equal "hello", one.receive
      await_engine(server, "A", "publish by hello")
      ask(other, "unsubscribe since")
      confirm(one, "detach B")
      confirm(one, "subscribe later")
      await_engine(server, "A", "subscribe later false")
      confirm(one, "reset A")
      ask(one, "unsubscribe since")
      await_engine(server, "A", "unsubscribe since false")
      confirm(one, "detach A")
    end
    assert_engines(server)
  end

  # Once at first, and once by reset.
  def assert_engines(server)
    a, b = %w[A B].map { |name| server.lines.join.scan(/^engine #{name}: (.*)\.$/).flatten }
    assert_equal [2, 2, 1], ["subscribe before false", "subscribe since false", "unsubscribe since false"].map { |call| a.count(call) }
    assert_equal [1, 1, 0], ["subscribe before false", "subscribe since false", "subscribe later false"].map { |call| b.count(call) }
  end

  def check_default_engine(server)
    meet(server, "default") do |one, other|
      confirm(one, "subscribe d")
      confirm(one, "default D")
      confirm(other, "publish d 1")
      assert_equal "1", one.receive
      await_engine(server, "D", "publish d 1")
      assert_equal "nil", ask(one, "no-default")
      confirm(other, "publish d 2")
      assert_equal "2", one.receive
      confirm(one, "detach D")
    end
    refute_includes server.lines.join, "engine D: publish d 2"
  end

  def check_rack_names(server)
    meet(server, "rack") do |one, other|
      confirm(one, "subscribe r")
      confirm(other, "rack r 1")
      assert_equal "1", one.receive
    end
  end

  # MAY be called; on_close is, then.
  def check_shutdown(server)
    join(server, "last") do |client|
      server.signal("TERM")
      assert_equal ["shutdown", nil, 1001], [client.receive, client.receive, client.close_code]
    end
    assert_predicate server.await_end, :success?
    assert_equal ["first: on_shutdown true", "first: on_close false -1 false nil"], told(server, "last").grep(/shutdown|close/)
  end
end
