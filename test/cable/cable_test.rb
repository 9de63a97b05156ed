# frozen_string_literal: true

require "minitest/autorun"
require "timeout"
require_relative "../apps/support/application"
require_relative "cable_client_exchanges"

# Action Cable by the server's own WebSockets: what its clients get is what they get by hijacked sockets.
class CableTest < Minitest::Test
  APP = Application.rails(code: "../cable/app")
  NATIVE = { "NATIVE" => "1", "ADAPTER" => "upwell" }.freeze
  MODES = %w[fibers threads:3 inline].freeze
  NEWS = CableClientExchanges::NEWS
  ANSWER = CableClientExchanges::ANSWER
  CLIENTS = 100
  TIMERS = 5 # threads, of Concurrent Ruby, that the signs of life may begin at any time
  GONE_MAX = 30 # seconds
  DRAIN = %w[--drain-timeout 10].freeze # clients leave in the first half
  GONE = { "type" => "disconnect", "reason" => "server_restart", "reconnect" => true }.freeze

  def test_clients_get_the_same
    APP.open do
      expected = serve { |port| transcripts(port) }
      MODES.each do |mode|
        serve("--mode", mode, environment: NATIVE) do |port|
          transcripts(port).each { |name, transcript| assert_equal expected.fetch(name), transcript, "#{name}, #{mode}" }
          assert whereabouts(port)["native"]
          await_connections(port, 1)
        end
      end
    end
  end

  # In Action Cable's own way any of these may come late, or in another order.
  def test_order
    APP.open { %w[fibers threads:3].each { |mode| check_order(mode) } }
  end

  def test_the_adapter_serves_hijacked_sockets
    open_server(environment: { "ADAPTER" => "upwell" }) do |port|
      with_clients(port, 2) do |teller, hearer|
        teller.perform(NEWS, "tell", news: "by the adapter")
        assert_equal "by the adapter", hearer.message["message"]
      end
      refute whereabouts(port)["native"]
    end
  end

  def test_a_hundred_clients_take_no_threads
    open_server(environment: NATIVE) do |port|
      alone = whereabouts(port)
      with_clients(port, CLIENTS) do |*clients|
        together = whereabouts(port)
        assert_equal alone["connections"] + CLIENTS, together["connections"]
        assert_operator together["tasks"], :<=, alone["tasks"] + TIMERS
        tell_all(clients)
        clients.first.await_beat
      end
      await_connections(port, alone["connections"])
    end
  end

  def test_all_workers_hear
    open_server("-w", "2", *DRAIN, environment: NATIVE) do |port, server|
      with_clients_of(2, port) do |clients|
        tell_all(clients)
        server.signal("USR1")
        clients.each { |client| assert_gone(client) }
      end
      with_clients(port, 1) { |client| tell_all([client]) }
    end
  end

  def test_the_end_of_the_server_is_told
    open_server(*DRAIN, environment: NATIVE) do |port, server|
      with_clients(port, 1) do |client|
        server.signal("TERM")
        assert_gone(client)
      end
      assert_predicate server.await_end, :success?
    end
  end

  def test_a_stream_that_could_not_be_is_tried_again_by_the_next
    assert_match(/^failed\nlistens to news\n\z/, run_ruby(<<~RUBY))
      reactor = Object.new
      def reactor.listen_to(name, *)
        raise NoMemoryError if (@count = @count.to_i + 1) == 1

        puts "listens to \#{name}"
      end
      Upwell::PubSub.listeners.begin(reactor)
      subscribers = Upwell::ActionCable::Subscribers.new(nil)
      2.times do
        subscribers.add_subscriber("news", ->(message) {}, nil)
      rescue NoMemoryError
        puts "failed"
      end
    RUBY
  end

  def test_a_process_that_a_worker_forks_broadcasts_by_the_url
    assert_match(/^Upwell, Upwell::PubSub::ExternalPublisher\z/, run_ruby(<<~RUBY))
      server = ActionCable::Server::Base.new(config: ActionCable::Server::Configuration.new)
      server.config.cable = { "url" => Dir.pwd }
      server.config.logger = Logger.new($stderr)
      adapter = ActionCable::SubscriptionAdapter::Upwell.new(server)
      Upwell::PubSub.delivery = ->(*) {}
      print adapter.send(:publisher)
      $stdout.flush
      Process.wait(fork { print ", ", adapter.send(:publisher).class })
    RUBY
  end

  private

  # With the adapter, in a process of the application's bundle that serves nobody.
  def run_ruby(code)
    libraries = %w[logger action_cable action_cable/subscription_adapter/upwell].map { |name| "require '#{name}'\n" }
    APP.open { APP.run("bundle", "exec", "ruby", "-e", [*libraries, code].join) }
  end

  def open_server(*options, **others, &block)
    APP.open { serve(*options, **others, &block) }
  end

  def serve(*options, environment: {})
    APP.serve("upwell", "-b", "127.0.0.1", "-p", "0", *options, environment: environment) { |server| yield server.port, server }
  end

  def check_order(mode)
    serve("--mode", mode, environment: NATIVE) do |port|
      CableClient.open(port, "name=gone") do |client|
        identifiers = [NEWS, NEWS.merge(again: true)].each { |identifier| client.join(identifier) }
        3.times { |number| client.perform(NEWS, "tell", news: number) }
        expected = [0, 1, 2].product(identifiers).map { |number, identifier| { "identifier" => JSON.generate(identifier), "message" => number } }
        assert_equal expected, Array.new(6) { client.message }
        disconnect(client, "gone")
        assert_equal [GONE.merge("reason" => "remote"), nil, 1000], [client.message, client.receive, client.close_code]
      end
    end
  end

  def transcripts(port)
    CableClientExchanges::ALL.transform_values { |exchange| CableClientExchanges.run(port, exchange) }
      .merge(CableClientExchanges::ENDS.transform_values { |exchange| CableClientExchanges.run_to_end(port, *exchange) })
  end

  def whereabouts(port)
    CableClient.open(port, "name=asking") { |client| ask_whereabouts(client) }
  end

  # Nothing tells that they have gone.
  def await_connections(port, count)
    Timeout.timeout(GONE_MAX) { nil until whereabouts(port)["connections"] == count }
  end

  def disconnect(client, name)
    client.join(ANSWER)
    client.perform(ANSWER, "disconnect_others", name: name)
  end

  def ask_whereabouts(client)
    client.join(ANSWER)
    client.perform(ANSWER, "whereabouts")
    client.message["message"]
  end

  # Yields clients that hear the news.
  def with_clients(port, count)
    clients = Array.new(count) { CableClient.new(port, "name=hearing").tap { |client| client.join(NEWS) } }
    yield(*clients)
  ensure
    clients&.each(&:close_socket)
  end

  # Yields clients, at least one of each worker.
  def with_clients_of(workers, port)
    clients = {}
    all = []
    until clients.size == workers
      all << client = CableClient.new(port, "name=hearing")
      clients[ask_whereabouts(client)["pid"]] ||= client.tap { client.join(NEWS) }
    end
    yield clients.values
  ensure
    all&.each(&:close_socket)
  end

  def assert_gone(client)
    assert_equal [GONE, nil, 1000], [client.message, client.receive, client.close_code]
  end

  # One tells what all hear.
  def tell_all(clients)
    clients.first.perform(NEWS, "tell", news: "all hear")
    assert_equal ["all hear"], clients.map { |client| client.message["message"] }.uniq
  end
end
