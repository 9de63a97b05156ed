# frozen_string_literal: true

# RESTARTS (200) phased restarts of several servers under load, while system faults come and go; SEED.

require "upwell"
require_relative "faulted_server"
require_relative "keep_alive_client"
require_relative "expected_outcomes"

# One server, and those who ask it meanwhile.
class PhasedRestarts
  include Await

  Server = Struct.new(:kind, :options, :always, :conditions) # of conditions: one that is never lifted, and those that come and go

  EACH_KIND = 2 # visitors of each page
  IMPOSED_MAX = 0.3 # seconds
  OFTEN = ["clock set back", "pid folder read-only", "EMFILE at pipe", "EMFILE at fork", "EAGAIN at fork", "ENOMEM at fork",
           "no descriptors at all"].freeze
  SERVERS = [
    Server.new(:rack, %w[--mode fibers], "stdout closed", OFTEN),
    Server.new(:rack, %w[--mode threads:5 --backend epoll], nil, [*OFTEN, "log on a full disk", "EMFILE at accept", "EMFILE at open"]),
    Server.new(:static, %w[--threads 2], nil, [*OFTEN, "log folder gone", "EMFILE at open"]),
    Server.new(:rack, %w[--mode inline], "stderr closed", OFTEN)
  ].freeze

  # @return [Integer] answers
  attr_reader :answers

  def initialize(server, random)
    @random = random
    @always, *@conditions = [server.always, *server.conditions].map { |name| name && condition(name) }
    @site = FaultedServer.new(server.kind, 2, **(@always&.arrangement || {}), options: server.options)
    @answers = 0
  end

  # @return [String, nil] what went wrong
  def run(count)
    @conditions.each { |condition| condition.prepare(@site) }
    start
    count.times { |index| restart(@conditions[index % @conditions.size]) }
    finish
  rescue Await::Failure => e
    "#{e.message}; it has told:\n#{@site.messages.lines.last(20).join}"
  ensure
    @answers = @visitors.sum(&:answers) if @visitors
    @conditions.each { |condition| condition.clean(@site) }
    @site.remove
  end

  private

  def condition(name)
    ExpectedOutcomes::ROWS.find { |row| row.name == name }.condition.call
  end

  def start
    @site.spawn
    @site.open_gate
    @site.await_listening
    @site.await_workers
    @always&.impose(@site)
    kinds = [RepeatingClient, KeepAliveClient].product(@site.pages)
    @visitors = kinds.flat_map { |kind, page| Array.new(EACH_KIND) { kind.new(@site.port, page) } }
  end

  def restart(condition)
    before = @site.workers
    condition.impose(@site)
    @site.signal("USR1")
    sleep(@random.rand(IMPOSED_MAX))
    condition.lift(@site)
    await("new workers") { !@site.workers.intersect?(before) && @site.workers.size == 2 }
    failure = @visitors.flat_map(&:failures).first
    expect(failure, failure.nil?)
  end

  def finish
    @visitors.each(&:may_be_refused)
    @visitors.each(&:stop)
    @site.signal("TERM")
    status = @site.await_end
    expect("ended with #{status}", status.exitstatus.zero?)
  end
end

count = Integer(ENV.fetch("RESTARTS", "200"))
seed = Integer(ENV.fetch("SEED", rand(1_000_000)))
FailingCallsLibrary.build
abort "restarts: this user may not mount" unless SmallFileSystem.mountable?
answers = 0
failed = PhasedRestarts::SERVERS.each_with_index.count do |server, index|
  restarts = PhasedRestarts.new(server, Random.new(seed + index))
  failure = restarts.run(count / PhasedRestarts::SERVERS.size)
  answers += restarts.answers
  puts "#{[server.kind, *server.options].join(" ")}: #{failure || "#{restarts.answers} requests, none failed"}"
  failure
end
puts "restarts: #{count} under load under system faults, #{answers} requests, #{failed} servers failed, SEED=#{seed}"
exit failed.zero?
