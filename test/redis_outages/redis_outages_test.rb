# frozen_string_literal: true

require_relative "../test_helper"
require "upwell/pub_sub/redis"
require_relative "../support/pub_sub_fault_injection"
require_relative "publishing_servers"

# Ten outages of Redis while four workers on two servers publish and hear.
class RedisOutagesTest < Minitest::Test
  # A method of RedisProcess, and how many seconds Redis is away.
  OUTAGES = [[:kill, 1], [:pause, 6], [:kill, 4], [:pause, 1], [:kill, 15], [:pause, 12], [:shut_down, 2], [:pause, 8], [:kill, 8],
             [:pause, 15]].freeze
  BETWEEN = 2 # seconds
  ROUNDS = Integer(ENV.fetch("ROUNDS", 10)) # of outages at random
  SEED = Integer(ENV.fetch("SEED", 1))

  def setup
    skip "there is no redis-server" unless RedisProcess.there?
  end

  def test_each_accepted_message_is_heard_once_and_in_order_or_is_counted
    PublishingServers.open do |workers|
      workers.publish do
        OUTAGES.each do |way, seconds|
          sleep BETWEEN
          workers.redis.away(way, seconds)
        end
        sleep BETWEEN
      end
      result = workers.result
      puts result
      assert_equal 0, result.missing, workers.log
      assert_predicate result, :once_and_in_order?
    end
  end

  def test_outages_at_random
    Upwell::PubSub::Redis.load_client
    capture_io do
      ROUNDS.times { |round| assert_empty PubSubFaultInjection.run(seed: SEED + round, outages: 6, long: true), "SEED=#{SEED + round}" }
    end
  end
end
