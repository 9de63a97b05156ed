# frozen_string_literal: true

require "timeout"
require_relative "redis_proxy"
require_relative "redis_process"

# Engines on one Redis, each behind a gate of its own. Redis, gates and connections fail at random, and engines begin at random moments. Each
# message has to be heard once by each engine that was subscribed before, in its publisher's order, or is counted.
class PubSubFaultInjection
  ENGINES_MAX = 8
  PAUSE_MAX = 0.02 # seconds between messages
  AWAY_MAX = 1.2 # seconds
  LONG = 6 # seconds: an engine no longer waits for an answer
  SETTLE_MAX = 45 # seconds until all is heard or counted
  WAYS = %i[kill shut_down pause cut_subscribers cut_publishers cut_engine shut_engine deaf_engine].freeze

  # An engine, what it has heard, and what it has to hear.
  Peer = Struct.new(:number, :engine, :gate, :heard, :due, :ready, :published) do
    # Redis knows of the subscription, or was away since: what it does not tell then is repeated.
    def ready?
      self.ready ||= confirmed? || engine.stats[:outages].positive?
    end

    def missing
      due - heard.dup
    end

    # @return [Array<Integer>] numbers by publisher
    def numbers
      heard.dup.group_by(&:first).transform_values { |pairs| pairs.map(&:last) }
    end

    private

    def confirmed?
      session = engine.instance_variable_get(:@session)
      session.instance_variable_get(:@subscriber).instance_variable_get(:@confirmed).positive?
    end
  end

  # @param seed [Integer]
  # @param outages [Integer]
  # @param ways [Array<Symbol>]
  # @param long [Boolean] whether some take {LONG}
  # @return [Array<String>] what was wrong
  def self.run(seed:, outages:, ways: WAYS, long: false)
    RedisProcess.open { |redis| new(redis, Random.new(seed), ways, long).run(outages) }
  end

  def initialize(redis, random, ways, long)
    @redis = redis
    @random = random
    @ways = ways
    @long = long
    @peers = []
    @lock = Mutex.new
    @told = []
  end

  # @return [Array<String>]
  def run(outages)
    2.times { begin_engine }
    publisher = Thread.new { publish_on }
    beginner = Thread.new { begin_on }
    outages.times { fail_once }
    @ended = true
    [publisher, beginner].each(&:join)
    settle
    faults
  ensure
    @peers.each { |peer| peer.engine.close(0) && peer.gate.close }
  end

  private

  def begin_engine
    gate = RedisProxy.new(@redis).tap(&:open)
    heard = []
    receiver = Upwell::PubSub::Redis::Deduplication.new(->(_channel, text) { heard << text.split.map(&:to_i) })
    engine = Upwell::PubSub::Redis.new(gate.url, receiver: receiver)
    engine.subscribe("a")
    @lock.synchronize { @peers << Peer.new(@peers.size, engine, gate, heard, [], false, 0) }
  end

  def begin_on
    until @ended
      sleep @random.rand(0.6)
      begin_engine if @peers.size < ENGINES_MAX
    end
  end

  # Some publish once and are silent for long, others go on.
  def publish_on
    until @ended
      sleep @random.rand(PAUSE_MAX)
      peer = @peers.sample(random: @random)
      publish(peer) if peer.published.zero? || peer.number.even? || @random.rand(40).zero?
    end
  end

  def publish(peer)
    listeners = @peers.select(&:ready?)
    pair = [peer.number, peer.published + 1]
    return unless peer.engine.publish("a", pair.join(" "))

    peer.published += 1
    listeners.each { |listener| listener.due << pair }
  end

  def fail_once
    way = @ways.sample(random: @random)
    seconds = @long && @random.rand(8).zero? ? LONG : @random.rand(AWAY_MAX)
    @told << "#{way} #{seconds.round(2)}"
    send(way, seconds)
    sleep @random.rand(0.8)
  end

  def kill(seconds)
    @redis.away(:kill, seconds)
  end

  def shut_down(seconds)
    @redis.away(:shut_down, seconds)
  end

  def pause(seconds)
    @redis.away(:pause, seconds)
  end

  def cut_subscribers(_seconds)
    @redis.ask("CLIENT", "KILL", "TYPE", "pubsub")
  end

  def cut_publishers(_seconds)
    @redis.ask("CLIENT", "KILL", "TYPE", "normal")
  end

  def cut_engine(_seconds)
    any_gate.cut
  end

  def shut_engine(seconds)
    gate = any_gate
    gate.shut
    sleep seconds
    gate.open
  end

  # It publishes, and hears nothing.
  def deaf_engine(seconds)
    gate = any_gate
    gate.open(refused: "SUBSCRIBE")
    gate.cut
    sleep seconds
    gate.open
  end

  def any_gate
    @peers.sample(random: @random).gate
  end

  def settle
    deadline = Upwell::Clock.now + SETTLE_MAX
    sleep 0.05 until faults.empty? || Upwell::Clock.now > deadline
  end

  def faults
    @peers.flat_map { |peer| [missing(peer), disorder(peer)].compact }
  end

  def missing(peer)
    missing = peer.missing
    "engine #{peer.number} misses #{missing} (#{peer.engine.stats}) after #{@told}" if missing.size > peer.engine.stats[:lost]
  end

  def disorder(peer)
    wrong = peer.numbers.reject { |_, numbers| numbers.each_cons(2).all? { |one, other| one < other } }
    "engine #{peer.number} heard #{wrong} after #{@told}" if wrong.any?
  end
end
