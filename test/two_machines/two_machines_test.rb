# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/redis_process"
require_relative "server_in_namespace"
require_relative "simulated_network"
require_relative "numbered_publishers"

# Two servers and their Redis, each on a machine of its own as far as the network goes.
class TwoMachinesTest < Minitest::Test
  MESSAGES = 200 # of each publisher
  BEFORE = 5 # rounds of talk, before a cut
  MEANWHILE = 60
  AFTER = 20
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

  # @param cut [Symbol] a method of SimulatedNetwork
  # @param restore [Symbol]
  def cut_off(cut, restore)
    with_machines do |network, near, far|
      talk = NumberedPublishers.new(near.publishers, far.publishers)
      visitors = near.visitors + far.visitors
      last = talk.during do
        talk.hear(visitors, BEFORE)
        network.public_send(cut, "far")
        ServerInNamespace::WORKERS.times { far.server.await(/lost the connection to Redis/) }
        talk.hear(near.visitors, talk.round + MEANWHILE, near.publishers)
        assert_equal %w[here here], [near, far].map(&:page)
        network.public_send(restore, "far")
        ServerInNamespace::WORKERS.times { far.server.await(/connected to Redis again/) }
        back = now
        talk.hear(visitors, talk.round + 1)
        assert_operator now - back, :<, RESUMED_MAX
        talk.hear(visitors, talk.round + AFTER)
      end
      talk.hear(visitors, last)
      talk.publishers.product(visitors) { |publisher, visitor| assert_equal [*0..last], talk.heard(publisher, visitor) }
      assert_operator talk.publishers.map(&:slowest).max, :<, ANSWER_MAX, "nobody who publishes waits"
      [near, far].each(&:stop)
      outage = [/lost the connection to Redis/, /connected to Redis again/]
      assert_equal [[0, 0], [2, 2]], [near, far].map { |machine| outage.map { |pattern| machine.told(pattern) } }
    end
  end

  def missing
    @missing ||= { "ip (Debian: iproute2)" => SimulatedNetwork.there?, "redis-server" => RedisProcess.there?,
                   "a user who may make networks (root)" => NetworkNamespace.there? }.reject { |_, there| there }.keys
  end

  def with_machines
    SimulatedNetwork.open("near", "far") do |network|
      with_redis(network) do |redis|
        ServerInNamespace.open(network["near"], SimulatedNetwork::MIDDLE) do |near|
          ServerInNamespace.open(network["far"], SimulatedNetwork::MIDDLE) do |far|
            await_listeners(redis, 2 * ServerInNamespace::WORKERS)
            [near, far].each(&:invite_visitors)
            yield network, near, far
          end
        end
      end
    end
  end

  def with_redis(network, &block)
    network.middle.inside { RedisProcess.open("--port", "6379", "--bind", SimulatedNetwork::MIDDLE, "--protected-mode", "no", &block) }
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
