# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/redis_process"
require_relative "machine"
require_relative "network"
require_relative "talk"

# Two servers and their Redis, each on a machine of its own as far as the network goes.
class TwoMachinesTest < Minitest::Test
  MESSAGES = 200 # of each publisher
  BEFORE = 5 # rounds of talk, before a cut
  MEANWHILE = 60
  AFTER = 20
  UNCERTAIN_MAX = 64 # messages of a process, whose fate nobody knows when its connection is lost
  ANSWER_MAX = 3 # seconds
  RESUMED_MAX = 3 # from Redis' return until every visitor hears of both machines: about one

  def setup
    skip "two machines need #{missing.join(", and ")}" if missing.any?
  end

  def test_each_message_reaches_all_visitors_of_both
    with_machines do |_network, near, far|
      publishers = near.publishers + far.publishers
      all_say(publishers, 0...MESSAGES)
      all_say(publishers, [MESSAGES]) # what came twice would come before
      [near, far].flat_map(&:visitors).product([*publishers.each_index]) do |visitor, publisher|
        visitor.hear_until(publisher, MESSAGES)
        assert_equal [*0..MESSAGES], visitor.heard(publisher)
      end
    end
  end

  def test_a_cable_is_unplugged
    cut_off(:unplug, :plug)
  end

  # The kernel tries to send for longer than a publisher waits, and ever more rarely.
  def test_packets_are_swallowed
    cut_off(:swallow, :forward)
  end

  private

  # @param cut [Symbol] a method of Network
  # @param restore [Symbol]
  def cut_off(cut, restore)
    with_machines do |network, near, far|
      talk = Talk.new(near.publishers, far.publishers)
      visitors = near.visitors + far.visitors
      settled = nil
      last = talk.during do
        talk.hear(visitors, BEFORE)
        network.public_send(cut, "far")
        Machine::WORKERS.times { far.server.await(/Redis is lost/) }
        talk.hear(near.visitors, talk.round + MEANWHILE, near.publishers)
        assert_equal %w[here here], [near, far].map(&:page)
        network.public_send(restore, "far")
        Machine::WORKERS.times { far.server.await(/Redis is back/) }
        back = now
        talk.hear(visitors, talk.round + 1)
        assert_operator now - back, :<, RESUMED_MAX
        settled = talk.round + 1
        talk.hear(visitors, settled + AFTER)
      end
      talk.hear(visitors, last)
      talk.publishers.product(visitors) { |pair| assert_heard(talk, *pair, settled..last) }
      near.publishers.product(near.visitors) { |pair| assert_empty talk.missed(*pair) }
      far.publishers.product(near.visitors) { |pair| assert_few talk.missed(*pair) }
      far.publishers.product(far.visitors) { |one, other| assert_few talk.missed(one, other) if one.worker == other.worker }
      assert_operator talk.publishers.map(&:slowest).max, :<, ANSWER_MAX, "nobody who publishes waits"
      [near, far].each(&:stop)
      assert_equal [[0, 0], [2, 2]], [near, far].map { |machine| [/is lost/, /is back/].map { |pattern| machine.told(pattern) } }
    end
  end

  # In order, none twice, and since it has settled all of them.
  def assert_heard(talk, publisher, visitor, rounds)
    heard = talk.heard(publisher, visitor)
    assert_empty heard.each_cons(2).reject { |one, other| one < other }
    assert_equal [*rounds], heard.last(rounds.size)
  end

  def assert_few(missed)
    assert_operator missed.size, :<=, UNCERTAIN_MAX
  end

  def missing
    @missing ||= { "ip (Debian: iproute2)" => Network.there?, "redis-server" => RedisProcess.there?,
                   "a user who may make networks (root)" => NetworkNamespace.there? }.reject { |_, there| there }.keys
  end

  def with_machines
    Network.open("near", "far") do |network|
      with_redis(network) do |redis|
        Machine.open(network["near"], Network::MIDDLE) do |near|
          Machine.open(network["far"], Network::MIDDLE) do |far|
            await_listeners(redis, 2 * Machine::WORKERS)
            [near, far].each(&:invite_visitors)
            yield network, near, far
          end
        end
      end
    end
  end

  def with_redis(network, &block)
    network.middle.inside { RedisProcess.open("--port", "6379", "--bind", Network::MIDDLE, "--protected-mode", "no", &block) }
  end

  def await_listeners(redis, count)
    Timeout.timeout(RawClient::READ_MAX) { sleep 0.01 until redis.ask("PUBSUB", "NUMSUB", "news").include?(":#{count}") }
  end

  # At the same time, each its numbers in order.
  def all_say(publishers, numbers)
    threads = publishers.map.with_index { |visitor, index| Thread.new { numbers.each { |number| visitor.say(index, number) } } }
    threads.each(&:value)
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
