# frozen_string_literal: true

require "fileutils"
require "json"
require "tmpdir"
require_relative "../support/redis_process"
require_relative "../support/server_process"
require_relative "worker_reports"

# Two servers with two workers each on one Redis. All workers publish and hear all the while.
class PublishingServers
  APP = File.expand_path("app.ru", __dir__)
  SERVERS = [%w[-w 2], %w[-w 2 --mode threads:2]].freeze
  COUNT = 4
  SETTLE_MAX = 60 # seconds until all is heard or counted
  LOOK = 0.05 # seconds between looks

  # @yieldparam workers [PublishingServers]
  def self.open
    Dir.mktmpdir("redis_outages") do |folder|
      RedisProcess.open do |redis|
        options = { app: APP, environment: { "FOLDER" => folder } }
        ServerProcess.open(*SERVERS.first, "--pubsub", redis.url, **options) do |one|
          ServerProcess.open(*SERVERS.last, "--pubsub", redis.url, **options) do |other|
            yield new(folder, redis, [one, other])
          end
        end
      end
    end
  end

  # @return [RedisProcess]
  attr_reader :redis

  def initialize(folder, redis, servers)
    @folder = folder
    @redis = redis
    @servers = servers.each(&:read_on)
  end

  # All workers publish until the block ends.
  def publish
    raise "not all workers have subscribed" unless await { redis.ask("PUBSUB", "NUMSUB", "news").include?(":#{COUNT}") }

    FileUtils.touch(publishing = File.join(@folder, "publish"))
    yield
  ensure
    FileUtils.rm_f(publishing) if publishing
  end

  # @return [WorkerReports] when nothing is missing, or at the end of the time for that
  def result
    FileUtils.touch(File.join(@folder, "report"))
    result = nil
    await { (result = read_reports).complete? && result.missing.zero? }
    result
  end

  # @return [String] what the servers have printed
  def log
    @servers.flat_map(&:lines).join
  end

  private

  def read_reports
    WorkerReports.new(Dir.glob(File.join(@folder, "*.json")).map { |path| JSON.parse(File.read(path)) }, COUNT)
  end

  # @return [Boolean]
  def await
    deadline = now + SETTLE_MAX
    sleep LOOK until (met = yield) || now > deadline
    met
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
